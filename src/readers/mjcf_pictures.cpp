// What an MJCF file has for pictures alone: meshes of geoms that meet nothing, skins, materials, textures. It is left out
// before the file is compiled, so that no such file is opened and none of its triangles is sorted or kept.
//
// A geom that is left out stays as a small ball: the others keep their numbers, and what names it still finds it.
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "readers/mjcf_parts.hpp"

namespace tribo::mjcf {
namespace {

std::vector<mjsElement*> elements(const mjSpec& spec, mjtObj type) {
  std::vector<mjsElement*> all;
  for (mjsElement* e = mjs_firstElement(&spec, type); e != nullptr; e = mjs_nextElement(&spec, e)) all.push_back(e);
  return all;
}

std::string text(const mjString* s) { return s != nullptr ? mjs_getString(s) : ""; }

// Geoms that pairs, sensors and tendons name.
std::set<const mjsElement*> named_geoms(const mjSpec& spec) {
  std::set<const mjsElement*> named;
  const auto name = [&](const mjString* s) { named.insert(mjs_findElement(&spec, mjOBJ_GEOM, mjs_getString(s))); };
  for (mjsElement* e : elements(spec, mjOBJ_PAIR)) {
    name(mjs_asPair(e)->geomname1);
    name(mjs_asPair(e)->geomname2);
  }
  for (mjsElement* e : elements(spec, mjOBJ_SENSOR)) {
    const mjsSensor& sensor = *mjs_asSensor(e);
    if (sensor.objtype == mjOBJ_GEOM) name(sensor.objname);
    if (sensor.reftype == mjOBJ_GEOM) name(sensor.refname);
  }
  for (mjsElement* e : elements(spec, mjOBJ_TENDON))
    for (int i = 0; i < mjs_getWrapNum(mjs_asTendon(e)); ++i)
      named.insert(mjs_getWrapTarget(mjs_getWrap(mjs_asTendon(e), i)));
  return named;
}

// Does the mass of its body come from its geoms, this one among them?
bool weighs(mjsElement* geom) {
  const mjsBody& body = *mjs_getParent(geom);
  const mjsCompiler& compiler = *mjs_getCompiler(geom);
  const int group = mjs_asGeom(geom)->group;
  if (group < compiler.inertiagrouprange[0] || group > compiler.inertiagrouprange[1]) return false;
  return compiler.inertiafromgeom == mjINERTIAFROMGEOM_TRUE ||
         (compiler.inertiafromgeom == mjINERTIAFROMGEOM_AUTO && std::isnan(body.ipos[0]));
}

bool is_picture(const mjSpec& spec, mjsElement* e, const std::set<const mjsElement*>& named) {
  const mjsGeom& geom = *mjs_asGeom(e);
  const bool own = mjs_getOriginSpec(e) == &spec;  // names of attached models are made whole later
  return own && !text(geom.meshname).empty() && geom.contype == 0 && geom.conaffinity == 0 &&
         geom.fluid_ellipsoid == 0 && !geom.plugin.active && !named.count(e) && !weighs(e);
}

void make_ball(mjsGeom& geom) {
  geom.type = mjGEOM_SPHERE;
  geom.size[0] = 1e-3;
  geom.fromto[0] = NAN;
  mjs_setString(geom.meshname, "");
}

// As the compiler names it: by its own name, or by its file without folders and ending.
std::string name_of(mjsElement* mesh) {
  const std::string own = text(mjs_getName(mesh));
  if (!own.empty()) return own;
  const std::string file = text(mjs_asMesh(mesh)->file);
  const std::size_t slash = file.find_last_of("/\\"), from = slash == std::string::npos ? 0 : slash + 1;
  return file.substr(from, file.rfind('.') - from);
}

void leave_out_meshes(mjSpec& spec) {
  const std::set<const mjsElement*> named = named_geoms(spec);
  std::set<std::string> used;
  for (mjsElement* e : elements(spec, mjOBJ_GEOM)) {
    if (is_picture(spec, e, named)) make_ball(*mjs_asGeom(e));
    used.insert(text(mjs_asGeom(e)->meshname));
  }
  for (mjsElement* e : elements(spec, mjOBJ_SITE)) used.insert(text(mjs_asSite(e)->meshname));
  for (mjsElement* e : elements(spec, mjOBJ_MESH))
    if (mjs_getOriginSpec(e) == &spec && !used.count(name_of(e))) mjs_delete(&spec, e);
}

void leave_out_colours(mjSpec& spec) {
  for (mjsElement* e : elements(spec, mjOBJ_SKIN)) mjs_delete(&spec, e);
  if (mjs_firstElement(&spec, mjOBJ_FLEX) != nullptr) return;  // their materials cannot be taken off
  for (mjsElement* e : elements(spec, mjOBJ_GEOM)) mjs_setString(mjs_asGeom(e)->material, "");
  for (mjsElement* e : elements(spec, mjOBJ_SITE)) mjs_setString(mjs_asSite(e)->material, "");
  for (mjsElement* e : elements(spec, mjOBJ_TENDON)) mjs_setString(mjs_asTendon(e)->material, "");
  for (mjsElement* e : elements(spec, mjOBJ_MESH)) mjs_setString(mjs_asMesh(e)->material, "");
  for (mjsElement* e : elements(spec, mjOBJ_LIGHT)) mjs_setString(mjs_asLight(e)->texture, "");
  for (const mjtObj type : {mjOBJ_MATERIAL, mjOBJ_TEXTURE})
    for (mjsElement* e : elements(spec, type)) mjs_delete(&spec, e);
}

}  // namespace

void leave_out_pictures(mjSpec& spec) {
  for (mjsElement* e : elements(spec, mjOBJ_TUPLE)) mjs_delete(&spec, e);  // they may name what goes
  leave_out_meshes(spec);
  leave_out_colours(spec);
}

}  // namespace tribo::mjcf
