#include "tribo/recorder.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "io/npy.hpp"
#include "io/recovery.hpp"
#include "scratch_folder.hpp"

using namespace tribo;

namespace {

Scene falling_box() {
  ModelBuilder builder;
  builder.add_object("box", ShapeKind::Box, {0.1, 0.2, 0.3}, 1, builder.add_material({}));
  Scene scene;
  scene.name = "falling box";
  scene.source = "box.toml";
  scene.model = std::make_shared<const Model>(builder.build());
  scene.start = State::neutral(*scene.model);
  scene.dt = 0.01;
  return scene;
}

/// Step k has k % 3 contacts, and numbers that tell where they came from.
void push_steps(Recorder& recorder, const Scene& scene, int first, int last) {
  State state = scene.start;
  VecX torque = VecX::Zero(scene.model->nv);
  std::vector<ContactReport> contacts;
  for (int k = first; k <= last; ++k) {
    state.q[0] = k;
    torque[1] = -k;
    contacts.assign(static_cast<std::size_t>(k % 3), {});
    for (std::size_t i = 0; i < contacts.size(); ++i) {
      contacts[i].id = static_cast<std::uint64_t>(100 * k) + i;
      contacts[i].f = {1, 2, static_cast<double>(k)};
      contacts[i].R_WC << 0, 0, 1, 1, 0, 0, 0, 1, 0;  // normal along x of W
    }
    StepReport report;
    report.t = k * scene.dt;
    report.solve.iterations = k;
    report.energy.contacts = -0.5;
    report.laws = {0, k == 3 ? 0.25 : 0.125, 0};
    recorder.push(state, torque, contacts, report);
  }
}

}  // namespace

TEST_CASE("recorder: contacts of a record are found by their offsets") {
  ScratchFolder folder;
  const Scene scene = falling_box();
  Recorder recorder(folder.file("out"), scene);
  push_steps(recorder, scene, 1, 5);
  const NpzReader npz(recorder.finish());
  CHECK(npz.read("time").numbers() == std::vector<double>{1 * 0.01, 2 * 0.01, 3 * 0.01, 4 * 0.01, 5 * 0.01});
  CHECK(npz.read("q").shape == std::vector<std::uint64_t>{5, 7});
  CHECK(npz.read("tau").number(4 * 6 + 1) == -5);
  CHECK(npz.read("contact_start").numbers() == std::vector<double>{0, 1, 3, 3, 4, 6});
  CHECK(npz.read("contact_id").numbers() == std::vector<double>{100, 200, 201, 400, 500, 501});
  // f = (1, 2, 4) in a frame whose axes are (y, z, x) of W.
  const std::vector<double> f_W = npz.read("contact_force_W").numbers();
  CHECK(std::vector<double>(f_W.begin() + 9, f_W.begin() + 12) == std::vector<double>{4, 1, 2});
  CHECK(npz.read("contact_normal").number(0) == 1);
  const NpyArray bytes = npz.read("meta");
  const auto meta = nlohmann::json::parse(bytes.bytes.begin(), bytes.bytes.end());
  CHECK(meta["format"] == 1);
  CHECK(meta["scene"] == "falling box");
  CHECK(meta["members"][0]["name"] == "box");
  CHECK(meta["joints"].size() == 6);
  CHECK(meta["model"].get<std::string>().size() == 16);
  CHECK_FALSE(std::filesystem::exists(folder.path / "out/recording.partial"));
}

TEST_CASE("recorder: a longer period sums the work and keeps the worst") {
  ScratchFolder folder;
  Scene scene = falling_box();
  scene.record.period = 0.03;
  scene.record.contacts = false;
  Recorder recorder(folder.file("out"), scene);
  push_steps(recorder, scene, 1, 7);
  const NpzReader npz(recorder.finish());
  // The first step, then every third.
  CHECK(npz.read("time").numbers() == std::vector<double>{1 * 0.01, 4 * 0.01, 7 * 0.01});
  CHECK(npz.read("energy_contacts").numbers() == std::vector<double>{-0.5, -1.5, -1.5});
  CHECK(npz.read("solver_iterations").numbers() == std::vector<double>{1, 2 + 3 + 4, 5 + 6 + 7});
  CHECK(npz.read("coulomb").numbers() == std::vector<double>{0.125, 0.25, 0.125});
  CHECK(npz.read("contact_start").numbers() == std::vector<double>{0, 0, 0, 0});
}

TEST_CASE("recorder: what an earlier run left is replaced only at the end, and a partial one is kept") {
  ScratchFolder folder;
  const Scene scene = falling_box();
  std::string path;
  {
    Recorder first(folder.file("out"), scene);
    push_steps(first, scene, 1, 2);
    path = first.finish();
  }
  {
    Recorder killed(folder.file("out"), scene);
    push_steps(killed, scene, 1, 20000);
    // Never finished: the earlier recording stands, and the partial arrays are valid and of one length.
    CHECK(NpzReader(path).read("time").shape[0] == 2);
    const std::string partial = folder.file("out/recording.partial/");
    const std::uint64_t n = NpzReader(partial + "time.npy").read("").shape[0];
    CHECK(n > 0);
    CHECK(NpzReader(partial + "q.npy").read("").shape[0] >= n);
    CHECK(NpzReader(partial + "contact_start.npy").read("").shape[0] >= n + 1);
    const double contacts = NpzReader(partial + "contact_start.npy").read("").number(n);
    CHECK(static_cast<double>(NpzReader(partial + "contact_id.npy").read("").shape[0]) >= contacts);
  }
  Recorder second(folder.file("out"), scene);
  CHECK(second.rescued() == folder.file("out/recording.1.npz"));
  const auto whole = [&] {
    const NpzReader npz(second.rescued());
    const std::uint64_t n = npz.read("time").shape[0];
    CHECK(n > 0);
    for (const char* name : {"q", "v", "tau", "status", "energy_kinetic"}) CHECK(npz.read(name).shape[0] == n);
    const NpyArray start = npz.read("contact_start");
    CHECK(start.shape[0] == n + 1);
    for (const char* name : {"contact_id", "contact_point", "contact_mode"})
      CHECK(static_cast<double>(npz.read(name).shape[0]) == start.number(n));
    CHECK(npz.read("q").number(7 * (n - 1)) == static_cast<double>(n));
  };
  whole();
  push_steps(second, scene, 1, 3);
  CHECK(NpzReader(second.finish()).read("time").shape[0] == 3);
  whole();
}

TEST_CASE("recorder: what a killed run left is packed, to the last record that is whole in every array") {
  ScratchFolder folder;
  const Scene scene = falling_box();
  const std::string partial = folder.file("out/recording.partial/");
  {
    Recorder killed(folder.file("out"), scene);
    push_steps(killed, scene, 1, 20000);
  }
  const std::uint64_t n = NpzReader(partial + "time.npy").read("").shape[0];
  // A disk that lost the end of one array: three records, and half of another.
  std::filesystem::resize_file(partial + "v.npy", std::filesystem::file_size(partial + "v.npy") - 6 * 8 * 3 - 20);
  const std::vector<RecoveredRecording> found = recover_recordings(folder.file("out"));
  REQUIRE(found.size() == 1);
  const NpzReader npz(found[0].to);
  CHECK(found[0].to == folder.file("out/recording.npz"));
  CHECK(npz.read("time").shape[0] == found[0].records);
  CHECK(found[0].records < n);
  CHECK(npz.read("v").shape[0] == found[0].records);
  CHECK(npz.read("q").number(7 * (found[0].records - 1)) == static_cast<double>(found[0].records));
  CHECK_FALSE(std::filesystem::exists(partial));
  CHECK(recover_recordings(folder.file("out")).empty());
}

TEST_CASE("files: temporary ones that killed writers left are removed, those of living ones stay") {
  ScratchFolder folder;
  const std::string place = folder.file("result");
  write_file(place + ".tmp.123.4", "left");
  write_file(place + ".tmp.note", "mine");
  AtomicFile living(place);
  write_file(place, "whole");
  CHECK_FALSE(std::filesystem::exists(place + ".tmp.123.4"));
  CHECK(std::filesystem::exists(place + ".tmp.note"));
  living.write("later", 5);
  living.commit();
  CHECK(read_text(place, 100) == "later");
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 2);
}

TEST_CASE("recorder: a second one on the folder is refused, and the first loses nothing") {
  ScratchFolder folder;
  const Scene scene = falling_box();
  {
    Recorder first(folder.file("out"), scene);
    push_steps(first, scene, 1, 4);
    CHECK(refusal([&] { Recorder(folder.file("out"), scene); }).find("is being written to by pid") !=
          std::string::npos);
    push_steps(first, scene, 5, 6);
    const NpzReader npz(first.finish());
    CHECK(npz.read("time").shape[0] == 6);
    CHECK(npz.read("q").number(7 * 5) == 6);
    CHECK(refusal([&] { Recorder(folder.file("out"), scene); }) != "");  // as long as it lives
  }
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path / "out"), {}) == 1);
  Recorder next(folder.file("out"), scene);
  CHECK_FALSE(std::filesystem::exists(folder.path / "out/recording.partial.1"));
}

TEST_CASE("recorder: a recording.npz that cannot be replaced is refused before the run") {
  ScratchFolder folder;
  std::filesystem::create_directories(folder.path / "out/recording.npz");
  CHECK(refusal([&] { Recorder(folder.file("out"), falling_box()); }).find("recording.npz: is a folder") !=
        std::string::npos);
}

TEST_CASE("recorder: a folder that cannot be made is refused by name") {
  ScratchFolder folder;
  folder.write("taken", "a file");
  CHECK(refusal([&] { Recorder(folder.file("taken"), falling_box()); }).find("taken: the output folder") !=
        std::string::npos);
}
