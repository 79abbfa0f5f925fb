#include "readers/robots.hpp"

#include <cstdlib>
#include <filesystem>

#include "base/names.hpp"
#include "readers/data_folders.hpp"
#include "readers/mjcf.hpp"
#include "readers/toml_reader.hpp"
#include "readers/xml_file.hpp"

namespace tribo {
namespace {

namespace fs = std::filesystem;

RobotRecord read_record(Section& section) {
  RobotRecord record;
  RobotEntry& entry = record.entry;
  entry.name = section.text("name");
  entry.summary = section.text("summary");
  entry.urdf = section.text("urdf");
  entry.floating = section.choice("base", "floating", {"floating", "fixed"}) == "floating";
  record.srdf = section.text("srdf", "");
  record.pose = section.text("pose", "neutral");
  record.shapes = section.flag("shapes", true);
  record.height = section.number("height", 0, Bound::NonNegative);
  Section angles = section.inner("angles");
  for (const std::string& joint : angles.table().keys) record.angles.emplace_back(joint, angles.number(joint));
  const TomlValue* feet = section.value("feet");
  record.walks = feet != nullptr;
  if (record.walks && feet->kind == TomlValue::Kind::Text)
    section.choice("feet", "balls", {"balls"});
  else if (record.walks)
    record.feet = read_feet(section);
  section.finish();
  return record;
}

// TRIBO_ROBOTS, the folder beside the package, the one known at build time.
std::vector<fs::path> robot_roots() {
  std::vector<fs::path> roots;
  if (const char* given = std::getenv("TRIBO_ROBOTS"); given != nullptr && *given != '\0') roots.emplace_back(given);
  if (!data_folders().robots.empty()) roots.emplace_back(data_folders().robots);
  if (!source_folders().robots.empty()) roots.emplace_back(source_folders().robots);
  return roots;
}

bool is_path(const std::string& model) {
  const fs::path extension = fs::path(model).extension();
  return model.find('/') != std::string::npos || extension == ".xacro" || extension == ".urdf" || extension == ".xml" ||
         extension == ".mjcf";
}

}  // namespace

std::vector<Foot> read_feet(Section& section) {
  std::vector<Foot> feet;
  const TomlValue* value = section.value("feet");
  if (value == nullptr) return feet;
  if (value->kind != TomlValue::Kind::Table) {
    for (const std::string& frame : section.texts("feet")) feet.push_back({frame});
    return feet;
  }
  Section given = section.inner("feet");
  const TomlValue* points = given.value("points");
  Foot foot;
  foot.radius = given.number("radius", 0, Bound::NonNegative);
  if (points != nullptr) {
    if (points->kind != TomlValue::Kind::Array) given.fail("points", "points must be an array of points");
    foot.points.clear();
    for (const TomlValue& point : points->items) {
      if (point.kind != TomlValue::Kind::Array || point.items.size() != 3)
        given.fail(point, "points: each must have three numbers [m]");
      foot.points.emplace_back();
      for (int k = 0; k < 3; ++k) foot.points.back()[k] = given.number_of(point.items[at(k)], "points");
    }
  }
  for (const std::string& frame : given.texts("frames")) {
    foot.frame = frame;
    feet.push_back(foot);
  }
  given.finish();
  if (feet.empty()) section.fail("feet", "feet need frames, or are \"balls\"");
  return feet;
}

std::vector<RobotRecord> read_robot_records(const std::string& text, const std::string& file) {
  const TomlValue table = parse_toml(text, file);
  Section root(table, file, "");
  std::vector<RobotRecord> records;
  for (Section section : root.tables("robot")) {
    RobotRecord record = read_record(section);
    for (const RobotRecord& known : records)
      if (known.entry.name == record.entry.name)
        section.fail("name", "robot '" + record.entry.name + "' is given twice");
    records.push_back(std::move(record));
  }
  root.finish();
  return records;
}

const std::vector<RobotRecord>& robot_records() {
  static const std::vector<RobotRecord> records = read_robot_records(robot_data(), "data/robots.toml");
  return records;
}

const std::vector<RobotEntry>& robots() {
  static const std::vector<RobotEntry> entries = [] {
    std::vector<RobotEntry> list;
    for (const RobotRecord& record : robot_records()) list.push_back(record.entry);
    return list;
  }();
  return entries;
}

std::string xacro_refusal(const std::string& path) {
  fs::path urdf = fs::path(path).filename();
  if (urdf.extension() == ".xacro") urdf = urdf.stem();
  if (urdf.extension() != ".urdf")
    urdf += ".urdf";
  else if (urdf == fs::path(path).filename())
    urdf = urdf.stem().string() + "-made.urdf";
  return "is written in xacro, which makes a URDF of it first: xacro " + path + " > " + urdf.string() +
         "  (pip install xacro, or ROS)";
}

void refuse_other_formats(const std::string& path) {
  const std::string extension = fs::path(path).extension().string();
  if (extension == ".xacro") throw InvalidInput(path + ": " + xacro_refusal(path));
  const bool sdf = extension == ".sdf" || extension == ".world", usd = extension.rfind(".usd", 0) == 0;
  if (sdf || usd)
    throw InvalidInput(path + ": " + (sdf ? "SDF" : "USD") + " files are not read: give the robot as URDF or MJCF");
}

RobotFiles find_robot(const std::string& model) {
  RobotFiles files;
  refuse_other_formats(model);
  if (is_path(model)) {
    files.urdf = model;
    for (const fs::path& root : robot_roots()) files.packages.push_back(root.parent_path().parent_path().string());
    return files;
  }
  std::vector<std::string> known;
  for (const RobotRecord& record : robot_records()) {
    known.push_back(record.entry.name);
    if (record.entry.name == model) files.record = &record;
  }
  if (files.record == nullptr)
    throw InvalidInput(unknown_name("robot", model, known) + "; or give the path of a .urdf file");
  std::string tried;
  for (const fs::path& root : robot_roots()) {
    const fs::path urdf = root / files.record->entry.urdf;
    tried += "\n  " + urdf.string();
    if (!fs::is_regular_file(urdf)) continue;
    files.urdf = urdf.string();
    if (!files.record->srdf.empty()) files.srdf = (root / files.record->srdf).string();
    files.packages.push_back(root.parent_path().parent_path().string());
    return files;
  }
  throw InvalidInput("robot '" + model + "': its file was not found. pip install 'tribo[robots]' brings the robots " +
                     "that are known by name; or set TRIBO_ROBOTS to the folder share/example-robot-data/robots of " +
                     "the package example-robot-data. Tried:" + tried);
}

int add_robot(ModelBuilder& builder, const RobotOptions& options, RobotNotes* notes) {
  RobotNotes own;
  RobotNotes& out = notes != nullptr ? *notes : own;
  if (!is_path(options.model) || !is_mjcf(options.model)) return add_urdf(builder, options, *read_urdf(options), out);
#ifdef TRIBO_MJCF
  return add_mjcf(builder, options, out);
#else
  throw InvalidInput("robot file '" + options.model + "' is MJCF, which this build does not read (TRIBO_MJCF)");
#endif
}

}  // namespace tribo
