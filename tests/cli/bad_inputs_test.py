"""Bad inputs: each is refused with exit code 2 and a message that names the place, by `run` and by `check`, and nothing
is written. Run under the sanitizers too (make test SANITIZE=address,undefined)."""
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

TRIBO = ""


def link(name, mass="1", inertia="ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'", more=""):
    return (f"<link name='{name}'><inertial><mass value='{mass}'/><inertia {inertia}/></inertial>{more}</link>\n")


def joint(name="j", parent="a", child="b", kind="revolute", more="", limit="lower='-1' upper='1' effort='1' velocity='1'",
          axis="0 0 1"):
    return (f"<joint name='{name}' type='{kind}'>\n<parent link='{parent}'/><child link='{child}'/><axis xyz='{axis}'/>"
            f"<limit {limit}/>{more}</joint>\n")


def urdf(body):
    return f"<robot name='r'>\n{body}</robot>\n"


def arm(**kw):
    return urdf(link("a") + link("b") + joint(**kw))


def shape(inner):
    return urdf(link("a", more=f"<collision><geometry>{inner}</geometry></collision>"))


def mjcf(world, more=""):
    return f"<mujoco>\n{more}<worldbody>\n{world}</worldbody>\n</mujoco>\n"


class Link(str):
    """A file that is a symbolic link to this path."""


PLY = ("ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\nend_header\n"
       "0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 1 2\n")
BALL = "<body><freejoint/><geom size='0.1'/></body>\n"
BOX = "[[object]]\nname = 'box'\nsize = 0.1\nmass = 1\nposition = [0, 0, 0.05]\n"
HUGE_STL = b"\0" * 80 + struct.pack("<I", 20_000_000) + b"\0" * 50

MESH = "[[object]]\nshape = 'mesh'\nmass = 1\n"
TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"


def png(width, height, data):
    """In shades of grey of 8 bits."""
    def chunk(name, inner):
        return struct.pack(">I", len(inner)) + name + inner + struct.pack(">I", zlib.crc32(name + inner))

    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def attaching(model):
    """A file that has another one twice."""
    twice = "".join(f"<frame><attach model='m' prefix='{side}'/></frame>" for side in "ab")
    return mjcf(f"<body name='b'><geom size='0.1'/>{twice}</body>", f"<asset><model name='m' file='{model}.xml'/></asset>\n")


def dae(nodes, library="", effect=""):
    """A tetrahedron "g" in Collada, as the nodes of a scene "s" instance it."""
    return ("<COLLADA xmlns='http://www.collada.org/2005/11/COLLADASchema' version='1.4.1'><asset/>" + effect +
            "<library_geometries><geometry id='g'><mesh><source id='p'><float_array id='f' count='12'>0 0 0 1 0 0 0 1 0 0 0 1"
            "</float_array><technique_common><accessor source='#f' count='4' stride='3'><param name='X' type='float'/>"
            "<param name='Y' type='float'/><param name='Z' type='float'/></accessor></technique_common></source>"
            "<vertices id='v'><input semantic='POSITION' source='#p'/></vertices><triangles count='4' material='m'>"
            "<input semantic='VERTEX' source='#v' offset='0'/><p>0 2 1 0 1 3 0 3 2 1 2 3</p></triangles></mesh></geometry>"
            f"</library_geometries>\n<library_nodes>{library}</library_nodes>\n<library_visual_scenes><visual_scene id='s'>"
            f"{nodes}</visual_scene></library_visual_scenes><scene><instance_visual_scene url='#s'/></scene></COLLADA>")


def node(name, *uses, more=""):
    return f"<node id='{name}'>{more}" + "".join(f"<instance_node url='#{u}'/>" for u in uses) + "</node>"


TETRA = "<instance_geometry url='#g'/>"
SAMPLER = ("<library_effects><effect id='e'><profile_COMMON>\n<newparam sid='A'><sampler2D><source>A</source></sampler2D></newparam>"
           "<technique sid='t'><phong><diffuse><texture texture='A' texcoord='u'/></diffuse></phong></technique></profile_COMMON>"
           "</effect></library_effects><library_materials><material id='M'><instance_effect url='#e'/></material>"
           "</library_materials>")
PAINTED = ("<instance_geometry url='#g'><bind_material><technique_common><instance_material symbol='m' target='#M'/>"
           "</technique_common></bind_material></instance_geometry>")


def mesh_of(text):
    return {"s.toml": MESH + "file = 'm.dae'\n", "m.dae": text}


# name: (files, the one to run, words that the message must have)
CASES = {
    # Scenes.
    "scene empty": ({"s.toml": ""}, "s.toml", ["neither a robot nor an object"]),
    "scene not toml": ({"s.toml": "[robot\nmodel = 3"}, "s.toml", ["s.toml:1"]),
    "scene binary": ({"s.toml": b"\0\1\2\xff\xfe"}, "s.toml", ["s.toml:1"]),
    "scene key twice": ({"s.toml": "[robot]\nmodel = 'ur10'\nmodel = 'ur5'\n"}, "s.toml", ["s.toml:3"]),
    "scene unknown key": ({"s.toml": BOX + "[contact]\nsolvr = 'pgs'\n"}, "s.toml", ["s.toml:7", "did you mean 'solver'"]),
    "scene unknown section": ({"s.toml": BOX + "[contct]\n"}, "s.toml", ["s.toml:6", "did you mean 'contact'"]),
    "scene nan": ({"s.toml": BOX.replace("mass = 1", "mass = nan")}, "s.toml", ["s.toml:4", "finite"]),
    "scene inf": ({"s.toml": BOX.replace("size = 0.1", "size = inf")}, "s.toml", ["s.toml:3", "finite"]),
    "scene negative mass": ({"s.toml": BOX.replace("mass = 1", "mass = -1")}, "s.toml", ["s.toml:4", "mass = -1"]),
    "scene zero size": ({"s.toml": BOX.replace("size = 0.1", "size = 0")}, "s.toml", ["s.toml:3", "size"]),
    "scene huge grid": ({"s.toml": BOX + "grid = [100000, 100000, 2]\nspacing = 1\n"}, "s.toml", ["s.toml:6", "grid"]),
    "scene crowd": ({"s.toml": BOX + "grid = [30, 30, 30]\nspacing = 0.001\n"}, "s.toml", ["1640060 pairs of shapes overlap at the start"]),
    "scene terrains": ({"s.toml": BOX + "grid = [100, 100, 1]\nspacing = 1\n" + "[[terrain]]\nspacing = 1\nheights = [[0, 0], [0, 0]]\n" * 600}, "s.toml",
                       ["601 planes and terrains beside 10000 other shapes"]),
    "scene mesh missing": ({"s.toml": MESH + "file = 'm.stl'\n"}, "s.toml", ["s.toml:4", "m.stl", "not a file"]),
    "scene mesh claim": ({"s.toml": MESH + "file = 'm.stl'\n", "m.stl": HUGE_STL}, "s.toml", ["s.toml:4", "claims 20000000"]),
    "scene mesh folder": ({"s.toml": MESH + "file = 'd.obj'\n", "d.obj/m": ""}, "s.toml", ["s.toml:4", "not a file"]),
    "scene mesh flat part": ({"s.toml": MESH + "file = 'm.obj'\nparts = true\n", "m.obj": "o a\n" + TETRAHEDRON + "o b\n" +
                              TETRAHEDRON.replace("v 0 0 1", "v 1 1 0")}, "s.toml", ["s.toml:4", "part 1", "plane"]),
    "scene mesh zero scale": ({"s.toml": MESH + "file = 'm.obj'\nscale = [1, 0, 1]\n", "m.obj": TETRAHEDRON}, "s.toml", ["s.toml:5", "zero"]),
    "scene mesh nothing": ({"s.toml": MESH}, "s.toml", ["s.toml:1", "needs 'file'"]),
    "scene mesh key of a box": ({"s.toml": BOX + "file = 'm.obj'\n"}, "s.toml", ["s.toml:6", "means nothing to a box"]),
    "scene wrong type": ({"s.toml": BOX.replace("size = 0.1", "size = 'big'")}, "s.toml", ["s.toml:3", "size"]),
    "scene date": ({"s.toml": BOX + "seed = 1979-05-27\n"}, "s.toml", ["s.toml:6", "dates"]),
    "scene negative dt": ({"s.toml": BOX + "[stepper]\ndt = -1e-3\n"}, "s.toml", ["s.toml:7", "dt"]),
    "scene huge integer": ({"s.toml": BOX + "[contact]\nmax_iterations = 99999999999\n"}, "s.toml", ["s.toml:7"]),
    "scene unknown robot": ({"s.toml": "[robot]\nmodel = 'solo13'\n"}, "s.toml", ["s.toml:2", "did you mean 'solo12'"]),
    "scene robot missing": ({"s.toml": "[robot]\nmodel = 'no/such.urdf'\n"}, "s.toml", ["s.toml:2", "does not exist"]),
    "scene unknown material": ({"s.toml": BOX + "material = 'ice'\n"}, "s.toml", ["s.toml:6", "material 'ice'"]),
    "scene range reversed": ({"s.toml": "[robot]\n[[robot.link]]\nsize = 0.1\nmass = 1\nrange = [1, -1]\n"}, "s.toml",
                             ["s.toml:5", "range"]),
    "scene two of one name": ({"s.toml": BOX + BOX}, "s.toml", ["s.toml:7", "box"]),
    "scene deep nesting": ({"s.toml": "x = " + "[" * 5000 + "]" * 5000}, "s.toml", ["s.toml:1"]),
    "scene dotted key": ({"s.toml": BOX + "a" + ".a" * 30000 + " = 1\n"}, "s.toml", ["s.toml:6", "nested deeper than 16"]),
    "scene dotted quoted key": ({"s.toml": "'a'" + " . \"a\"" * 30000 + " = 1\n"}, "s.toml", ["s.toml:1", "nested deeper"]),
    "scene dotted section": ({"s.toml": BOX + "[a" + ".a" * 30000 + "]\n"}, "s.toml", ["s.toml:6", "nested deeper"]),
    "scene dotted sections": ({"s.toml": BOX + "[[a" + ".a" * 30000 + "]]\n"}, "s.toml", ["s.toml:6", "nested deeper"]),
    "scene deep tables": ({"s.toml": "x = " + "{a=" * 200 + "1" + "}" * 200}, "s.toml", ["s.toml:1", "nested deeper"]),
    "scene deep dotted tables": ({"s.toml": "x = " + ("{" + "a." * 14 + "a=") * 200 + "1" + "}" * 200}, "s.toml", ["nested deeper"]),
    "scene dotted after quotes": ({"s.toml": "x = ['''a'''', {a" + ".a" * 30000 + "=1}, 'b']\n"}, "s.toml", ["s.toml:1", "nested deeper"]),
    "mesh node in itself": (mesh_of(dae(node("a", "a", more=TETRA))), "s.toml", ["s.toml:4", "m.dae:3", "node 'a' refers to itself"]),
    "mesh nodes in a circle": (mesh_of(dae(node("a", "b"), node("b", "c", more=TETRA) + node("c", "b"))), "s.toml",
                               ["m.dae:2", "refers to itself"]),
    "mesh node by its name": (mesh_of(dae(node("x", "a", more=TETRA).replace("id=", "name='a' id="))), "s.toml", ["refers to itself"]),
    "mesh scene in itself": (mesh_of(dae(node("a", "s", more=TETRA))), "s.toml", ["visual_scene 's' refers to itself"]),
    "mesh nodes without end": (mesh_of(dae(node("a", "n0"), "".join(node(f"n{k}", *[f"n{k + 1}"] * 10) for k in range(12)) +
                                           node("n12", more=TETRA))), "s.toml", ["m.dae:2", "more than 500 MB"]),
    "mesh chain of nodes": (mesh_of(dae(node("a", "n0"), "".join(node(f"n{k}", f"n{k + 1}") for k in range(100000)) +
                                        node("n100000", more=TETRA))), "s.toml", ["m.dae", "500 levels"]),
    "mesh sampler of itself": (mesh_of(dae(node("a", more=PAINTED), effect=SAMPLER)), "s.toml", ["m.dae:2", "'A' refers to itself"]),
    "mesh with entities": (mesh_of("<!DOCTYPE x [<!ENTITY a 'b'>]>" + dae(node("a", more=TETRA))), "s.toml", ["m.dae:1", "entities"]),
    "mesh not xml": (mesh_of("<COLLADA"), "s.toml", ["m.dae:1", "not XML"]),
    "mesh ply claim": ({"s.toml": MESH + "file = 'm.ply'\n", "m.ply": PLY.replace("vertex 4", "vertex 30000000")}, "s.toml",
                       ["s.toml:4", "claims 30000000 of 'vertex'"]),
    "mesh ply list claim": ({"s.toml": MESH + "file = 'm.ply'\n", "m.ply": PLY.replace("element vertex 4", "element x 900000000\nproperty list uchar int y\n"
                                                                                     "element vertex 4")}, "s.toml", ["s.toml:4", "claims 900000000"]),
    "mesh ply short": ({"s.toml": MESH + "file = 'm.ply'\n", "m.ply": PLY.replace("0 0 1\n3 0 1 2\n", "0 0")}, "s.toml", ["s.toml:4", "m.ply"]),
    "mesh ply without points": ({"s.toml": MESH + "file = 'm.ply'\n", "m.ply": PLY.replace("float z", "float w")}, "s.toml", ["no x, y and z"]),
    "mesh dae claim": (mesh_of(dae(node("a", more=TETRA)).replace("count='12'", "count='4000000000'")), "s.toml",
                       ["m.dae:1", "claims a count of 4000000000"]),
    "mesh dae words": (mesh_of(dae(node("a", more=TETRA)).replace("0 3 2 1 2 3", "0 3 2 \u00ff\u00ff3")), "s.toml", ["m.dae:1", "<p> is not made of whole numbers"]),
    "mesh dae index": (mesh_of(dae(node("a", more=TETRA)).replace("0 3 2 1 2 3", "0 1e308 2 1 2 3")), "s.toml", ["<p> is not made of whole numbers"]),
    "mesh dae word of a point": (mesh_of(dae(node("a", more=TETRA)).replace("0 1 0 0 0 1<", "0 1 0 x 0 1<")), "s.toml", ["<float_array> is not"]),
    "mesh dae stride": (mesh_of(dae(node("a", more=TETRA)).replace("stride='3'", "stride='4000000000'")), "s.toml", ["claims a stride"]),
    "scene link twice": ({"s.toml": "[robot]\n" + 2 * "[[robot.link]]\nname = 'l'\nsize = 0.1\nmass = 1\n"}, "s.toml",
                         ["s.toml:7", "two links are called 'l'"]),
    "scene link like a copy": ({"s.toml": "[robot]\n[[robot.link]]\nname = 'l2'\nsize = 0.1\nmass = 1\n[[robot.link]]\nname = 'l'\n"
                                          "size = 0.1\nmass = 1\ncount = 3\n"}, "s.toml", ["s.toml:7", "two links are called 'l2'"]),
    "scene long chain": ({"s.toml": "[robot]\n[[robot.link]]\nsize = 0.1\nmass = 1\ncount = 20000\n"}, "s.toml",
                         ["more than 3000 degrees of freedom"]),
    "scene flat hull": ({"s.toml": "[[object]]\nshape = 'hull'\nmass = 1\nvertices = [[0,0,0],[1,0,0],[0,1,0],[1,1,0]]\n"},
                        "s.toml", ["s.toml:4", "plane"]),
    "scene too large": ({"s.toml": "#" * 1_100_000}, "s.toml", ["s.toml", "1100000"]),
    "scene folder": ({"s.toml/x": ""}, "s.toml", ["s.toml", "folder"]),
    "scene missing": ({}, "none.toml", ["none.toml", "no such"]),
    # URDF.
    "urdf empty": ({"r.urdf": ""}, "r.urdf", ["r.urdf", "empty"]),
    "urdf folder": ({"r.urdf/x": ""}, "r.urdf", ["r.urdf", "folder"]),
    "urdf broken xml": ({"r.urdf": "<robot><link name='a'>"}, "r.urdf", ["r.urdf:1", "not XML"]),
    "urdf other root": ({"r.urdf": "<html/>"}, "r.urdf", ["r.urdf:1", "<robot>"]),
    "urdf zero byte": ({"r.urdf": b"<robot>\0</robot>"}, "r.urdf", ["r.urdf:1", "zero byte"]),
    "urdf entities": ({"r.urdf": "<?xml version='1.0'?>\n<!DOCTYPE r [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;&a;'>]>\n<robot name='&b;'/>"},
                      "r.urdf", ["r.urdf:2", "entities"]),
    "urdf external entity": ({"r.urdf": "<!DOCTYPE r SYSTEM 'file:///etc/passwd'>\n<robot/>"}, "r.urdf", ["r.urdf:1", "entities"]),
    "urdf deep nesting": ({"r.urdf": "<a>" * 20000 + "</a>" * 20000}, "r.urdf", ["r.urdf:1", "deep"]),
    "urdf no link": ({"r.urdf": "<robot name='r'/>"}, "r.urdf", ["r.urdf:1", "no <link>"]),
    "urdf nan mass": ({"r.urdf": urdf(link("a", mass="nan"))}, "r.urdf", ["r.urdf:2", "link 'a'", "not finite"]),
    "urdf negative mass": ({"r.urdf": urdf(link("a", mass="-2"))}, "r.urdf", ["r.urdf:2", "negative"]),
    "urdf huge mass": ({"r.urdf": urdf(link("a", mass="1e300"))}, "r.urdf", ["r.urdf:2", "beyond"]),
    "urdf overflow": ({"r.urdf": urdf(link("a", mass="1e999"))}, "r.urdf", ["r.urdf:2", "too large"]),
    "urdf word for number": ({"r.urdf": urdf(link("a", mass="heavy"))}, "r.urdf", ["r.urdf:2", "not made of numbers"]),
    "urdf negative inertia": ({"r.urdf": urdf(link("a", inertia="ixx='-1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'"))},
                              "r.urdf", ["r.urdf:2", "negative"]),
    "urdf massless": ({"r.urdf": urdf(link("a") + "<link name='b'/>\n" + joint())}, "r.urdf", ["r.urdf:4", "no mass"]),
    "urdf limits reversed": ({"r.urdf": arm(limit="lower='2' upper='-2' effort='1' velocity='1'")}, "r.urdf",
                             ["r.urdf:5", "joint 'j'", "reversed"]),
    "urdf limit nan": ({"r.urdf": arm(limit="lower='nan' upper='1' effort='1' velocity='1'")}, "r.urdf", ["r.urdf:5", "not finite"]),
    "urdf negative effort": ({"r.urdf": arm(limit="lower='-1' upper='1' effort='-5' velocity='1'")}, "r.urdf", ["r.urdf:5", "negative"]),
    "urdf no limit": ({"r.urdf": arm().replace("<limit lower='-1' upper='1' effort='1' velocity='1'/>", "")}, "r.urdf", ["r.urdf:4", "<limit>"]),
    "urdf zero axis": ({"r.urdf": arm(axis="0 0 0")}, "r.urdf", ["r.urdf:5", "axis"]),
    "urdf two numbers": ({"r.urdf": arm(axis="0 1")}, "r.urdf", ["r.urdf:5", "must have 3"]),
    "urdf unknown type": ({"r.urdf": arm(kind="revolut")}, "r.urdf", ["r.urdf:4", "did you mean 'revolute'"]),
    "urdf planar": ({"r.urdf": arm(kind="planar")}, "r.urdf", ["r.urdf:4", "planar"]),
    "urdf unknown link": ({"r.urdf": arm(child="bb")}, "r.urdf", ["r.urdf:5", "did you mean"]),
    "urdf cycle": ({"r.urdf": urdf(link("a") + link("b") + joint() + joint("k", "b", "a"))}, "r.urdf", ["cycle"]),
    "urdf self loop": ({"r.urdf": urdf(link("a") + link("b") + joint(parent="b"))}, "r.urdf", ["cycle"]),
    "urdf two parents": ({"r.urdf": urdf(link("a") + link("b") + link("c") + joint() + joint("k", "c", "b"))}, "r.urdf",
                         ["r.urdf:", "two joints"]),
    "urdf two roots": ({"r.urdf": urdf(link("a") + link("b"))}, "r.urdf", ["several roots"]),
    "urdf link twice": ({"r.urdf": urdf(link("a") + link("a"))}, "r.urdf", ["r.urdf:3", "two links"]),
    "urdf many links": ({"r.urdf": urdf(link("a") + "".join(link(f"l{k}") + joint(f"j{k}", "a", f"l{k}", "fixed") for k in range(20000)))},
                        "r.urdf", ["r.urdf:1", "20001 links; at most 5000"]),
    "urdf long chain": ({"r.urdf": urdf(link("l0") + "".join(link(f"l{k + 1}") + joint(f"j{k}", f"l{k}", f"l{k + 1}", "fixed")
                                                           for k in range(4000)))}, "r.urdf", ["r.urdf:1", "more than 1000 others"]),
    "urdf mimic chain": ({"r.urdf": urdf(link("a") + "".join(link(f"l{k}") + joint(f"j{k:04}", "a", f"l{k}", more=f"<mimic joint='j{(k + 1) % 3000:04}'/>")
                                                           for k in range(3000)))}, "r.urdf", ["mimics itself"]),
    "urdf wrong everywhere": ({"r.urdf": urdf(link("a") + "".join(link(f"l{k}") + joint(f"j{k}", f"x{k}", f"l{k}") for k in range(4000)))},
                              "r.urdf", ["unknown link 'x0'"]),
    "urdf mesh by a link": ({"r.urdf": shape("<mesh filename='m.obj'/>"), "m.obj": Link("/etc/passwd")}, "r.urdf", ["r.urdf:2", "outside"]),
    "urdf mesh by a folder's link": ({"r.urdf": shape("<mesh filename='package://p/passwd'/>"), "p": Link("/etc")}, "r.urdf",
                                     ["r.urdf:2", "passwd"]),
    "urdf mimic nobody": ({"r.urdf": arm(more="<mimic joint='k'/>")}, "r.urdf", ["r.urdf:4", "joint 'k'"]),
    "urdf mimic itself": ({"r.urdf": arm(more="<mimic joint='j'/>")}, "r.urdf", ["r.urdf:4", "itself"]),
    "urdf mesh missing": ({"r.urdf": shape("<mesh filename='package://p/m.stl'/>")}, "r.urdf",
                          ["r.urdf:2", "not found", "/p/m.stl"]),
    "urdf mesh climbs": ({"r.urdf": shape("<mesh filename='package://p/../../../../../../etc/passwd'/>")}, "r.urdf",
                         ["r.urdf:2", "climbs"]),
    "urdf mesh absolute": ({"r.urdf": shape("<mesh filename='/etc/passwd'/>")}, "r.urdf", ["r.urdf:2", "outside"]),
    "urdf mesh relative climb": ({"r.urdf": shape("<mesh filename='../../../../../../../../etc/passwd'/>")}, "r.urdf",
                                 ["r.urdf:2", "passwd"]),
    "urdf mesh claim": ({"r.urdf": shape("<mesh filename='m.stl'/>"), "m.stl": HUGE_STL}, "r.urdf", ["m.stl", "claims 20000000"]),
    "urdf mesh short": ({"r.urdf": shape("<mesh filename='m.stl'/>"), "m.stl": b"abc"}, "r.urdf", ["m.stl", "too few"]),
    "urdf mesh empty": ({"r.urdf": shape("<mesh filename='m.obj'/>"), "m.obj": ""}, "r.urdf", ["m.obj", "no points"]),
    "urdf mesh words": ({"r.urdf": shape("<mesh filename='m.obj'/>"), "m.obj": "v 0 0 0\nv 1 x 0\n"}, "r.urdf", ["m.obj", ":2"]),
    "urdf mesh nan": ({"r.urdf": shape("<mesh filename='m.obj'/>"), "m.obj": "v nan 0 0\n" * 4}, "r.urdf", ["m.obj", "finite"]),
    "urdf mesh flat": ({"r.urdf": shape("<mesh filename='m.obj'/>"), "m.obj": "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\n"}, "r.urdf",
                       ["m.obj", "plane"]),
    "urdf mesh kind": ({"r.urdf": shape("<mesh filename='m.exe'/>"), "m.exe": "MZ"}, "r.urdf", ["m.exe", "unknown kind"]),
    "urdf mesh dae": ({"r.urdf": shape("<mesh filename='m.dae'/>"), "m.dae": "<COLLADA><library"}, "r.urdf", ["m.dae"]),
    "urdf mesh zero scale": ({"r.urdf": shape("<mesh filename='m.obj' scale='0 1 1'/>"), "m.obj": "v 0 0 0\n"}, "r.urdf",
                             ["r.urdf:2", "scale"]),
    "urdf negative radius": ({"r.urdf": shape("<sphere radius='-1'/>")}, "r.urdf", ["r.urdf:2", "radius"]),
    "urdf unknown shape": ({"r.urdf": shape("<spher radius='1'/>")}, "r.urdf", ["r.urdf:2", "did you mean 'sphere'"]),
    # MJCF.
    "mjcf empty": ({"r.xml": ""}, "r.xml", ["r.xml", "empty"]),
    "mjcf broken xml": ({"r.xml": "<mujoco><worldbody>"}, "r.xml", ["r.xml:1", "not XML"]),
    "mjcf unknown element": ({"r.xml": mjcf("<body><freejoint/><geom size='1'/><wheel/></body>")}, "r.xml", ["r.xml", "wheel"]),
    "mjcf unknown attribute": ({"r.xml": mjcf("<body><freejoint/><geom size='1' colour='red'/></body>")}, "r.xml", ["colour"]),
    "mjcf negative size": ({"r.xml": mjcf("<body><freejoint/><geom size='-1'/></body>")}, "r.xml", ["r.xml", "size"]),
    "mjcf massless": ({"r.xml": mjcf("<body><joint/></body>")}, "r.xml", ["r.xml", "mass"]),
    "mjcf negative mass": ({"r.xml": mjcf("<body><freejoint/><geom size='1' mass='-1'/></body>")}, "r.xml", ["r.xml", "mass"]),
    "mjcf triangle": ({"r.xml": mjcf("<body><freejoint/><inertial pos='0 0 0' mass='1' diaginertia='1 1 9'/></body>")}, "r.xml",
                      ["r.xml", "inertia"]),
    "mjcf range reversed": ({"r.xml": mjcf("<body><joint limited='true' range='1 -1'/><geom size='1'/></body>")}, "r.xml",
                            ["r.xml", "range"]),
    "mjcf nan": ({"r.xml": mjcf("<body pos='nan 0 0'><joint/><geom size='1'/></body>")}, "r.xml", ["r.xml"]),
    "mjcf mesh missing": ({"r.xml": mjcf(BALL + "<body><freejoint/><geom type='mesh' mesh='m'/></body>", "<asset><mesh name='m' file='m.stl'/></asset>\n")}, "r.xml", ["m.stl"]),
    "mjcf mesh climbs": ({"r.xml": mjcf(BALL, "<asset><mesh name='m' file='../../../../../../../etc/passwd'/></asset>\n")}, "r.xml",
                         ["r.xml:2", "outside"]),
    "mjcf mesh absolute": ({"r.xml": mjcf(BALL, "<asset><mesh name='m' file='/etc/passwd'/></asset>\n")}, "r.xml", ["r.xml:2", "outside"]),
    "mjcf meshdir climbs": ({"r.xml": mjcf(BALL, "<compiler meshdir='../../../../../../..'/>\n<asset><mesh name='m' file='etc/m.stl'/></asset>\n")},
                            "r.xml", ["r.xml:3", "outside"]),
    "mjcf mesh claim": ({"r.xml": mjcf("<body><freejoint/><geom type='mesh' mesh='m'/></body>", "<asset><mesh name='m' file='m.stl'/></asset>\n"),
                         "m.stl": HUGE_STL}, "r.xml", ["m.stl"]),
    "mjcf mesh by a link": ({"r.xml": mjcf("<body><freejoint/><geom type='mesh' mesh='m'/></body>", "<asset><mesh name='m' file='m.stl'/></asset>\n"),
                             "m.stl": Link("/etc/passwd")}, "r.xml", ["r.xml:2", "outside"]),
    "mjcf include by a link": ({"r.xml": mjcf(BALL, "<include file='x.xml'/>\n"), "x.xml": Link("/etc/passwd")}, "r.xml", ["r.xml:2", "outside"]),
    "mjcf keyframe": ({"r.xml": mjcf(BALL).replace("</mujoco>", "<keyframe><key name='up' qpos='1 2'/></keyframe></mujoco>")}, "r.xml", ["r.xml:5", "2 numbers of qpos"]),
    "mjcf body twice": ({"r.xml": mjcf(2 * "<body name='b'><freejoint/><geom size='0.1'/></body>")}, "r.xml", ["r.xml", "'b'"]),
    "mjcf include missing": ({"r.xml": mjcf(BALL, "<include file='x.xml'/>\n")}, "r.xml", ["r.xml:2", "x.xml", "not found"]),
    "mjcf include itself": ({"r.xml": mjcf(BALL, "<include file='r.xml'/>\n")}, "r.xml", ["r.xml", "includes itself"]),
    "mjcf include cycle": ({"r.xml": mjcf(BALL, "<include file='x.xml'/>\n"),
                            "x.xml": "<mujocoinclude><include file='y.xml'/></mujocoinclude>",
                            "y.xml": "<mujocoinclude><include file='x.xml'/></mujocoinclude>"}, "r.xml", ["includes itself"]),
    "mjcf include climbs": ({"r.xml": mjcf(BALL, "<include file='../../../../../../etc/passwd'/>\n")}, "r.xml", ["r.xml:2", "outside"]),
    "mjcf two elements": ({"r.xml": mjcf(BALL) + "<key qpos='1'/>"}, "r.xml", ["r.xml:", "<key> stands beside the first element"]),
    "mjcf key alone": ({"r.xml": "<key qpos='1'/>"}, "r.xml", ["r.xml:1", "<key>"]),
    "mjcf entities": ({"r.xml": "<!DOCTYPE m [<!ENTITY a 'b'>]>\n<mujoco/>"}, "r.xml", ["r.xml:1", "entities"]),
    "mjcf deep nesting": ({"r.xml": mjcf("<body>" * 20000 + "</body>" * 20000)}, "r.xml", ["r.xml", "deep"]),
    "mjcf copies": ({"r.xml": mjcf("<replicate count='1000'><replicate count='100000'>" + BALL + "</replicate></replicate>")}, "r.xml",
                    ["r.xml:3", "copies"]),
    "terrain of a picture that claims": ({"s.toml": BOX + "[ground]\nnone = true\n[[terrain]]\nspacing = 0.1\nfile = 't.png'\nrange = [0, 1]\n",
                                          "t.png": png(16384, 8000, zlib.compress(bytes(8000 * 16385)))}, "s.toml", ["t.png", "131072000 points"]),
    "urdf name beyond UTF-8": ({"r.urdf": b"<robot name='r'><link name='a\xff'/></robot>"}, "r.urdf", ["r.urdf:1", "a\\xff", "UTF-8"]),
    "urdf name that a terminal obeys": ({"r.urdf": "<robot name='r'><link name='a&#27;[2J'/></robot>"}, "r.urdf", ["r.urdf:1", "a\\x1b[2J"]),
    "urdf type that a terminal obeys": ({"r.urdf": arm(kind="\x1b[2Jfixed")}, "r.urdf", ["\\x1b[2Jfixed"]),
    "urdf name without end": ({"r.urdf": "<robot name='r'><link name='" + 200_000 * "_0" + "'/></robot>"}, "r.urdf", ["400000 bytes"]),
    "pattern of many stars": ({"s.toml": "[robot]\nmodel = 'r.urdf'\nmaterials = {'" + 20 * "*a" + "b' = 'default'}\n",
                               "r.urdf": shape("<sphere radius='1'/>").replace("'a'", f"'{60 * 'a'}'")}, "s.toml", ["s.toml:2", "unknown link"]),
    "mjcf copies side by side": ({"r.xml": mjcf(("<replicate count='600'>" + BALL + "</replicate>") * 12)}, "r.xml", ["r.xml", "copies"]),
    "mjcf copies of copies": ({"r.xml": attaching("1"), **{f"{k}.xml": attaching(str(k + 1)) for k in range(1, 14)}, "14.xml": mjcf(BALL)},
                              "r.xml", [".xml", "copies"]),
    "mjcf huge terrain": ({"r.xml": mjcf(BALL, "<asset><hfield name='h' nrow='100000' ncol='100000' size='1 1 1 1'/></asset>\n")}, "r.xml",
                          ["r.xml:2", "points"]),
    "mjcf huge texture": ({"r.xml": mjcf(BALL, "<asset><texture name='t' type='2d' builtin='flat' width='999999' height='999999'/></asset>\n")},
                          "r.xml", ["r.xml:2", "pixels"]),
    "mjcf plugin": ({"r.xml": mjcf(BALL, "<extension><plugin plugin='mujoco.none'/></extension>\n")}, "r.xml", ["plugin"]),
    "mjcf refused": ({"s.toml": "[robot]\nmodel = 'r.xml'\nunsupported = 'refuse'\n", "r.xml": mjcf("<body><freejoint/><geom size='1' margin='0.1'/></body>")},
                     "s.toml", ["s.toml:2", "margin"]),
    # A reader that waits for its end waits for ever: it says that it has no bytes.
    "robot file of the kernel": ({"r.urdf": Link("/proc/kmsg")}, "r.urdf", ["r.urdf"]),
    **{f"mesh of the kernel as {kind}": ({"s.toml": MESH + f"file = 'm.{kind}'\n", f"m.{kind}": Link("/proc/kmsg")}, "s.toml", ["s.toml:4", f"m.{kind}"])
       for kind in ("stl", "obj", "ply", "dae")},
    "xml of something else": ({"r.xml": "<svg/>"}, "r.xml", ["r.xml:1", "<robot>"]),
}


def listing(folder):
    return sorted((str(p), p.stat().st_size if p.is_file() else -1) for p in pathlib.Path(folder).rglob("*"))


class BadInputs(unittest.TestCase):
    def attempt(self, command, files, target, words):
        with tempfile.TemporaryDirectory(prefix="tribo-bad-") as outer:
            folder = pathlib.Path(outer) / "case"
            folder.mkdir()
            for name, content in files.items():
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                if isinstance(content, Link):
                    path.symlink_to(content)
                    continue
                path.write_bytes(content if isinstance(content, bytes) else content.encode())
            before = listing(outer)
            args = [TRIBO, command, target] + (["--out", "out"] if command == "run" else [])
            result = subprocess.run(args, cwd=folder, capture_output=True, timeout=120, text=True, errors="replace",
                                    env={**os.environ, "ROS_PACKAGE_PATH": "", "AMENT_PREFIX_PATH": ""})
            said = result.stdout + result.stderr
            self.assertEqual(result.returncode, 2, said[-2000:])
            for word in words:
                self.assertIn(word, said)
            self.assertNotIn("Sanitizer", said)
            self.assertNotIn("runtime error", said)
            self.assertEqual(listing(outer), before, "something was written")

    def test_enough_of_them(self):
        self.assertGreaterEqual(len(CASES), 60)

    def test_check_tells_all_at_once(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "s.toml"
            path.write_text("[contact]\nsolvr = 'pgs'\ntolerance = -1\n[stepper]\ndt = nan\n"
                            "[[object]]\nsize = -1\nmass = 'x'\n[robot]\nmodel = 'solo13'\n")
            said = subprocess.run([TRIBO, "check", str(path)], capture_output=True, text=True).stdout
            for place in [":2:", ":3:", ":5:", ":7:", ":8:", ":10:"]:
                self.assertIn(place, said)
            robot = pathlib.Path(folder) / "r.urdf"
            robot.write_text(urdf(link("a", mass="-1") + link("b", mass="nan") + joint(limit="lower='1' upper='0' effort='-1'", axis="0 0 0")))
            said = subprocess.run([TRIBO, "check", str(robot)], capture_output=True, text=True).stdout
            for word in [":2:", ":3:", "reversed", "effort", "axis"]:
                self.assertIn(word, said)

    def test_check_names_overlaps_and_dt(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "s.toml"
            path.write_text(BOX + "[[object]]\nname = 'other'\nsize = 0.1\nmass = 1\nposition = [0.09, 0, 0.05]\nvelocity = [500, 0, 0]\n")
            result = subprocess.run([TRIBO, "check", str(path)], capture_output=True, text=True)
            self.assertEqual(result.returncode, 0)
            self.assertRegex(result.stdout, r"'box' and 'other' overlap at the start by 10(\.0*)? mm")
            # A box of 0.1 m at 500 m/s moves by its size in 0.2 ms; dt is 1 ms.
            self.assertIn("5 times too large for the speed of 'other'", result.stdout)


def add(name, files, target, words):
    def test(self):
        for command in ("check", "run"):
            self.attempt(command, files, target, words)
    setattr(BadInputs, "test_" + name.replace(" ", "_"), test)


for key, case in CASES.items():
    add(key, *case)

if __name__ == "__main__":
    TRIBO = os.path.abspath(sys.argv.pop(1))
    unittest.main()
