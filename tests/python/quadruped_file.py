"""A quadruped of twelve joints as the text of a URDF file, healthy; tests seed faults into it."""

STAND = {"*_hip": 0.0, "*_thigh": 0.8, "*_knee": -1.6}
_LINK = """<link name="{name}_link"><inertial><origin xyz="{com}"/><mass value="{mass}"/>
<inertia ixx="{inertia}" iyy="{inertia}" izz="0.0002" ixy="0" ixz="0" iyz="0"/></inertial>{foot}</link>
<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{name}_link"/><origin xyz="{origin}"/>
<axis xyz="{axis}"/><limit lower="{low}" upper="{high}" effort="25" velocity="20"/></joint>"""
_FOOT = '<collision><origin xyz="0 0 -0.2"/><geometry><sphere radius="0.02"/></geometry></collision>'


def quadruped() -> str:
    parts = ['<robot name="quad"><link name="trunk"><inertial><mass value="6"/><inertia ixx="0.03" iyy="0.1" izz="0.11" '
             'ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry><box size="0.45 0.18 0.1"/></geometry></collision></link>']
    for leg, x, y in (("FL", 0.2, 0.1), ("FR", 0.2, -0.1), ("HL", -0.2, 0.1), ("HR", -0.2, -0.1)):
        side = 0.06 if y > 0 else -0.06
        parts.append(_LINK.format(name=f"{leg}_hip", parent="trunk", origin=f"{x} {y} 0", axis="1 0 0", low=-0.8, high=0.8,
                                  mass=0.4, inertia=5e-4, com="0 0 0", foot=""))
        parts.append(_LINK.format(name=f"{leg}_thigh", parent=f"{leg}_hip_link", origin=f"0 {side} 0", axis="0 1 0", low=-2,
                                  high=2, mass=0.6, inertia=2e-3, com="0 0 -0.1", foot=""))
        parts.append(_LINK.format(name=f"{leg}_knee", parent=f"{leg}_thigh_link", origin="0 0 -0.2", axis="0 1 0", low=-2.6,
                                  high=-0.1, mass=0.2, inertia=6.7e-4, com="0 0 -0.1", foot=_FOOT))
    return "\n".join(parts) + "</robot>"
