#include "readers/robots.hpp"

#include <cstdlib>
#include <filesystem>

#include "base/names.hpp"
#include "readers/data_folders.hpp"
#include "readers/mjcf.hpp"
#include "readers/xml_file.hpp"

namespace tribo {
namespace {

namespace fs = std::filesystem;

// The flat part of the foot's collision mesh, seen from the sole frame: its vertices within 3 mm of the lowest.
const std::vector<Vec3> talos_sole{{0.098, 0.062, 0}, {0.098, -0.062, 0}, {-0.109, 0.062, 0}, {-0.109, -0.062, 0}};
// Corners as used with Romeo in [Hammoud2022].
const std::vector<Vec3> romeo_sole{
    {0.10, 0.05, -0.07}, {0.10, -0.05, -0.07}, {-0.05, 0.05, -0.07}, {-0.05, -0.05, -0.07}};
// The file's collision mesh lies across the foot (long along y, about which the ankle pitches): its extent, turned to
// x.
const std::vector<Vec3> icub_sole{{0.109, 0.03, 0}, {0.109, -0.03, 0}, {-0.048, 0.03, 0}, {-0.048, -0.03, 0}};

const std::vector<std::pair<std::string, double>> ur_ready{
    {"shoulder_lift_joint", -1.2}, {"elbow_joint", 1.6}, {"wrist_1_joint", -1.9}, {"wrist_2_joint", -1.57}};

std::vector<Foot> points(std::initializer_list<const char*> frames, double radius = 0) {
  std::vector<Foot> feet;
  for (const char* frame : frames) feet.push_back({frame, {Vec3::Zero()}, radius});
  return feet;
}

// Columns: {name, urdf, summary, floating}, srdf, pose, walks, feet, angles of the pose, height.
std::vector<RobotRecord> make_records() {
  const auto solo_feet = points({"FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"});
  // A ball that is within a millimetre of the foot's mesh at its lowest point.
  const auto go2_feet = points({"FL_foot", "FR_foot", "RL_foot", "RR_foot"}, 0.022);
  const std::string solo_srdf = "solo_description/srdf/solo.srdf";
  return {
      {{"solo12", "solo_description/robots/solo12.urdf", "quadruped, 12 joints, 2.5 kg, point feet"},
       solo_srdf,
       "standing",
       true,
       solo_feet},
      {{"solo8", "solo_description/robots/solo.urdf", "quadruped, 8 joints, point feet"},
       solo_srdf,
       "standing",
       true,
       solo_feet},
      {{"bolt", "bolt_description/robots/bolt.urdf", "biped, 6 joints, point feet"},
       "bolt_description/srdf/bolt.srdf",
       "standing",
       true,
       points({"FL_FOOT", "FR_FOOT"})},
      {{"talos", "talos_data/robots/talos_reduced.urdf", "humanoid, 32 joints, 90 kg, four points a sole"},
       "talos_data/srdf/talos.srdf",
       "half_sitting",
       true,
       {{"left_sole_link", talos_sole}, {"right_sole_link", talos_sole}}},
      {{"romeo", "romeo_description/urdf/romeo_small.urdf", "humanoid, 31 joints, 41 kg, four points a sole"},
       "romeo_description/srdf/romeo_small.srdf",
       "half_sitting",
       true,
       {{"LAnkleRoll", romeo_sole}, {"RAnkleRoll", romeo_sole}}},
      {{"icub", "icub_description/robots/icub_reduced.urdf", "humanoid, 29 joints, four points a sole"},
       "icub_description/srdf/icub.srdf",
       "half_sitting",
       true,
       {{"l_sole", icub_sole}, {"r_sole", icub_sole}}},
      {{"g1", "g1_description/urdf/g1_29dof_rev_1_0.urdf", "humanoid, 29 joints, 33 kg, four balls a foot"},
       "",
       "standing",
       true,
       {},
       {{"left_hip_pitch_joint", -0.3},
        {"left_knee_joint", 0.6},
        {"left_ankle_pitch_joint", -0.3},
        {"right_hip_pitch_joint", -0.3},
        {"right_knee_joint", 0.6},
        {"right_ankle_pitch_joint", -0.3},
        {"left_shoulder_roll_joint", 0.2},
        {"right_shoulder_roll_joint", -0.2},
        {"left_elbow_joint", 0.6},
        {"right_elbow_joint", 0.6}}},
      {{"go2", "go2_description/urdf/go2.urdf", "quadruped, 12 joints, 16 kg, ball feet"},
       "go2_description/srdf/go2.srdf",
       "standing",
       true,
       go2_feet},
      {{"go1", "go1_description/urdf/go1.urdf", "quadruped, 12 joints, 13 kg, ball feet"},
       "go1_description/srdf/go1.srdf",
       "standing",
       true,
       {}},
      {{"a1", "a1_description/urdf/a1.urdf", "quadruped, 12 joints, 13 kg, ball feet"},
       "a1_description/srdf/a1.srdf",
       "standing",
       true,
       {}},
      {{"b1", "b1_description/urdf/b1.urdf", "quadruped, 12 joints, ball feet"},
       "b1_description/srdf/b1.srdf",
       "standing",
       true,
       {}},
      {{"laikago", "laikago_description/urdf/laikago.urdf", "quadruped, 12 joints, ball feet"},
       "",
       "standing",
       true,
       {},
       {{"FR_thigh_joint", 0.7},
        {"FL_thigh_joint", 0.7},
        {"RR_thigh_joint", 0.7},
        {"RL_thigh_joint", 0.7},
        {"FR_calf_joint", -1.4},
        {"FL_calf_joint", -1.4},
        {"RR_calf_joint", -1.4},
        {"RL_calf_joint", -1.4}}},
      {{"anymal_b", "anymal_b_simple_description/robots/anymal.urdf", "quadruped, 12 joints, ball feet"},
       "anymal_b_simple_description/srdf/anymal.srdf",
       "standing",
       true,
       {}},
      {{"anymal_c", "anymal_c_simple_description/urdf/anymal.urdf", "quadruped, 12 joints, 52 kg, ball feet"},
       "anymal_c_simple_description/srdf/anymal.srdf",
       "standing",
       true,
       {}},
      {{"hyq", "hyq_description/robots/hyq_no_sensors.urdf", "quadruped, 12 joints, ball feet"},
       "hyq_description/srdf/hyq.srdf",
       "standing",
       true,
       {}},
      {{"simple_humanoid", "simple_humanoid_description/urdf/simple_humanoid.urdf", "humanoid, 29 joints"},
       "simple_humanoid_description/srdf/simple_humanoid.srdf",
       "half_sitting",
       false,
       {}},
      {{"centauro", "centauro_description/urdf/centauro.urdf", "four legs and two arms, 39 joints"},
       "centauro_description/srdf/centauro.srdf",
       "neutral",
       false,
       {}},
      {{"allegro", "allegro_hand_description/urdf/allegro_right_hand.urdf", "right hand, 16 joints, boxes and balls",
        false},
       "",
       "open",
       false,
       {},
       {{"joint_12.0", 0.3}}},
      {{"allegro_left", "allegro_hand_description/urdf/allegro_left_hand.urdf", "left hand, 16 joints, boxes and balls",
        false},
       "",
       "open",
       false,
       {},
       {{"joint_12.0", 0.3}}},
      {{"ur3", "ur_description/urdf/ur3_robot.urdf", "arm, 6 joints", false}, "", "ready", false, {}, ur_ready},
      {{"ur5", "ur_description/urdf/ur5_robot.urdf", "arm, 6 joints", false}, "", "ready", false, {}, ur_ready},
      {{"ur10", "ur_description/urdf/ur10_robot.urdf", "arm, 6 joints, 29 kg", false},
       "",
       "ready",
       false,
       {},
       ur_ready},
      {{"panda", "panda_description/urdf/panda.urdf", "arm, 7 joints and two fingers, the one follows the other",
        false},
       "panda_description/srdf/panda.srdf",
       "default",
       false,
       {}},
      {{"kinova", "kinova_description/robots/kinova.urdf", "arm, 6 joints, three of them continuous", false},
       "kinova_description/srdf/kinova.srdf",
       "arm_up",
       false,
       {}},
      {{"xarm7", "xarm_description/urdf/xarm7.urdf", "arm, 7 joints", false},
       "xarm_description/srdf/xarm7.srdf",
       "neutral",
       false,
       {}},
      {{"z1", "z1_description/urdf/z1.urdf", "arm, 6 joints and a gripper", false},
       "z1_description/srdf/z1.srdf",
       "neutral",
       false,
       {}},
      {{"so100", "so_arm_description/urdf/so100.urdf", "arm, 6 joints", false}, "", "neutral", false, {}},
      {{"so101", "so_arm_description/urdf/so101.urdf", "arm, 6 joints", false}, "", "neutral", false, {}},
      {{"finger_edu", "finger_edu_description/robots/finger_edu.urdf", "finger, 3 joints", false},
       "finger_edu_description/srdf/finger_edu.srdf",
       "neutral",
       false,
       {}},
      {{"double_pendulum", "double_pendulum_description/urdf/double_pendulum.urdf", "two joints without motors", false},
       "",
       "neutral",
       false,
       {},
       {},
       0.5},
      {{"double_pendulum_continuous", "double_pendulum_description/urdf/double_pendulum_continuous.urdf",
        "two continuous joints without motors", false},
       "",
       "neutral",
       false,
       {},
       {},
       0.5},
  };
}

// TRIBO_ROBOTS, the folder beside the package, the one known at build time.
std::vector<fs::path> robot_roots() {
  std::vector<fs::path> roots;
  if (const char* given = std::getenv("TRIBO_ROBOTS"); given != nullptr && *given != '\0') roots.emplace_back(given);
  if (!data_folders().robots.empty()) roots.emplace_back(data_folders().robots);
#ifdef TRIBO_ROBOT_DATA
  roots.emplace_back(TRIBO_ROBOT_DATA);
#endif
  return roots;
}

bool is_path(const std::string& model) {
  const fs::path extension = fs::path(model).extension();
  return model.find('/') != std::string::npos || extension == ".urdf" || extension == ".xml" || extension == ".mjcf";
}

}  // namespace

const std::vector<RobotRecord>& robot_records() {
  static const std::vector<RobotRecord> records = make_records();
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

RobotFiles find_robot(const std::string& model) {
  RobotFiles files;
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
  throw InvalidInput("robot '" + model + "': its file was not found; set TRIBO_ROBOTS to the folder " +
                     "share/example-robot-data/robots of the package example-robot-data. Tried:" + tried);
}

int add_robot(ModelBuilder& builder, const RobotOptions& options, RobotNotes* notes) {
  RobotNotes own;
  RobotNotes& out = notes != nullptr ? *notes : own;
  if (!is_path(options.model) || !is_mjcf(options.model)) return add_urdf(builder, options, out);
#ifdef TRIBO_MJCF
  return add_mjcf(builder, options, out);
#else
  throw InvalidInput("robot file '" + options.model + "' is MJCF, which this build does not read (TRIBO_MJCF)");
#endif
}

}  // namespace tribo
