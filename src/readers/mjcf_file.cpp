// Reading of MJCF files: looked through first, so that what MuJoCo's compiler opens and allocates is bounded.
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <sstream>

#include "base/names.hpp"
#include "readers/mjcf_parts.hpp"
#include "readers/xml_file.hpp"

namespace tribo {
namespace mjcf {
namespace {

namespace fs = std::filesystem;

constexpr int most_files = 1000;  // included or attached
constexpr double most_elements =
    1e4;  // bodies, shapes and frames, with what is copied: the compiler's time grows with their square
constexpr double most_cells = 5e7;    // of a height field, of a texture
constexpr double most_numbers = 1e5;  // that a user may hang on an element

std::string place(const std::string& file, const tinyxml2::XMLElement& e) {
  return file + ":" + std::to_string(e.GetLineNum()) + ": <" + e.Name() + ">";
}

// Product of the numbers of an attribute; 1 where it is absent.
double product(const tinyxml2::XMLElement& e, const char* attribute) {
  const char* text = e.Attribute(attribute);
  double p = 1;
  for (char* end = nullptr; text != nullptr && *text != '\0'; text = end) {
    const double x = std::strtod(text, &end);
    if (end == text) break;
    p *= std::max(1.0, x);
  }
  return p;
}

class Inspection {
 public:
  explicit Inspection(const std::vector<std::string>& roots) : roots_(roots) {}

  /// Of the file and of those that it includes; none where models are attached.
  std::vector<KeyClaim> keys() const { return attached_ ? std::vector<KeyClaim>{} : keys_; }

  /// How many elements the compiler makes of a file, at least those of `most_elements`. `folder` is that of the file which is
  /// given to the compiler: paths of includes begin there.
  double look(const std::string& path, const fs::path& folder) {
    if (static_cast<int>(open_.size()) >= 50 || ++files_ > most_files)
      throw InvalidInput(path + ": files include each other without end");
    if (!open_.insert(fs::path(path).lexically_normal().string()).second)
      throw InvalidInput(path + ": includes itself");
    const auto document = read_xml(path);
    Folders names;
    for_each_element(document->RootElement(), [&](const tinyxml2::XMLElement& e) {
      if (std::string(e.Name()) != "compiler") return;
      if (const char* dir = e.Attribute("assetdir")) names.mesh = names.texture = dir;
      if (const char* dir = e.Attribute("meshdir")) names.mesh = dir;
      if (const char* dir = e.Attribute("texturedir")) names.texture = dir;
    });
    for_each_element(document->RootElement(), [&](const tinyxml2::XMLElement& e) { bound(path, e); });
    for_each_element(document->RootElement(), [&](const tinyxml2::XMLElement& e) { note_key(path, e); });
    for_each_element(document->RootElement(), [&](const tinyxml2::XMLElement& e) { follow(path, e, folder, names); });
    double elements = 0;
    count(path, document->RootElement(), 1, elements);
    open_.erase(fs::path(path).lexically_normal().string());
    return elements;
  }

 private:
  struct Folders {
    std::string mesh, texture;
  };

  // The compiler fills a keyframe that is too short, and cuts one that is too long. Attached models change their sizes.
  void note_key(const std::string& path, const tinyxml2::XMLElement& e) {
    attached_ = attached_ || std::string(e.Name()) == "attach";
    const tinyxml2::XMLElement* const parent = e.Parent()->ToElement();  // none of the first element
    if (std::string(e.Name()) != "key" || parent == nullptr || std::string(parent->Name()) != "keyframe") return;
    for (const char* attribute : {"qpos", "qvel", "act", "ctrl", "mpos", "mquat"}) {
      const char* text = e.Attribute(attribute);
      if (text == nullptr) continue;
      std::istringstream words(text);
      int numbers = 0;
      for (std::string word; words >> word;) ++numbers;
      keys_.push_back({place(path, e), attribute, numbers});
    }
  }

  static void within(const std::string& path, const tinyxml2::XMLElement& e, double x, double most, const char* what) {
    if (!(x <= most))
      throw InvalidInput(place(path, e) + " asks for " + shown(x) + " " + what + ", at most " + shown(most));
  }

  // A few words must not ask for more memory than there is.
  static void bound(const std::string& path, const tinyxml2::XMLElement& e) {
    const std::string name = e.Name();
    if (name == "hfield") within(path, e, product(e, "nrow") * product(e, "ncol"), most_cells, "points");
    if (name == "texture") within(path, e, product(e, "width") * product(e, "height"), most_cells, "pixels");
    if (name == "mesh" && e.Attribute("builtin")) {
      const std::string kind = e.Attribute("builtin");
      const bool divided = kind == "sphere" || kind == "hemisphere";
      within(path, e, product(e, "params"), divided ? 7 : 1e6, "divisions");
    }
    if (name == "size" || name == "numeric")
      for (const tinyxml2::XMLAttribute* a = e.FirstAttribute(); a != nullptr; a = a->Next())
        if (std::string(a->Name()).compare(0, 5, "nuser") == 0 || std::string(a->Name()) == "size" ||
            std::string(a->Name()) == "nkey")
          within(path, e, product(e, a->Name()), most_numbers, "numbers");
  }

  // Nor for more time: elements with their copies, those of files that are included and of models that are attached.
  void count(const std::string& path, const tinyxml2::XMLElement* e, double copies, double& elements) {
    for (; e != nullptr; e = e->NextSiblingElement()) {
      const std::string name = e->Name();
      double inner = copies;
      if (name == "replicate" || name == "composite" || name == "flexcomp") elements += inner *= product(*e, "count");
      if (name == "body" || name == "geom" || name == "frame") elements += copies;
      if (name == "include") elements += copies * included_[e];
      if (name == "attach") elements += copies * attached_model(*e);
      within(path, *e, elements, most_elements, "bodies, shapes and frames, with copies");
      count(path, e->FirstChildElement(), inner, elements);
    }
  }

  // A model without a name is known by that in its file: then the largest.
  double attached_model(const tinyxml2::XMLElement& attach) const {
    const char* name = attach.Attribute("model");
    if (const auto known = models_.find(name != nullptr ? name : ""); name != nullptr && known != models_.end())
      return known->second;
    double most = 0;
    for (const auto& model : models_) most = std::max(most, model.second);
    return most;
  }

  void follow(const std::string& path, const tinyxml2::XMLElement& e, const fs::path& folder, const Folders& names) {
    const std::string name = e.Name();
    for (const tinyxml2::XMLAttribute* a = e.FirstAttribute(); a != nullptr; a = a->Next()) {
      if (std::string(a->Name()).compare(0, 4, "file") != 0) continue;
      const bool model = name == "include" || name == "model";
      const std::string dir = model ? "" : name == "texture" ? names.texture : names.mesh;
      const fs::path full = (folder / dir / a->Value()).lexically_normal();
      if (!is_inside(full.string(), roots_))
        throw InvalidInput(place(path, e) + " names '" + a->Value() + "', which is outside of " + roots_[0] +
                           "; give its folder as a package to allow it");
      if (!model) continue;
      std::error_code error;
      // Beside the file given to the compiler, or beside the one that includes it.
      const fs::path beside = fs::path(path).parent_path() / a->Value();
      const fs::path target = fs::is_regular_file(full, error) ? full : beside;
      if (!fs::is_regular_file(target, error))
        throw InvalidInput(place(path, e) + " names '" + a->Value() + "', which was not found. Tried:\n  " +
                           full.string() + "\n  " + beside.string());
      if (!is_inside(target.string(), roots_))
        throw InvalidInput(place(path, e) + " names '" + a->Value() + "', which is outside of " + roots_[0]);
      const double elements = look(target.string(), name == "model" ? target.parent_path() : folder);
      included_[&e] = elements;
      if (name == "include") continue;
      double& known = models_[e.Attribute("name") != nullptr ? e.Attribute("name") : ""];
      known = std::max(known, elements);
    }
  }

  const std::vector<std::string>& roots_;
  std::vector<KeyClaim> keys_;
  bool attached_ = false;
  std::map<const tinyxml2::XMLElement*, double> included_;  // elements of the file that one names
  std::map<std::string, double> models_;                    // the same, of models to attach
  std::set<std::string> open_;
  int files_ = 0;
};

// The compiler puts the element and its line on a line of their own.
std::string one_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (std::size_t i = text.find('\n'); i != std::string::npos; i = text.find('\n', i)) text.replace(i, 1, "; ");
  return text;
}

// MuJoCo would end the program, or write a log into the current folder; and keep a second copy of every mesh.
struct Fault {
  std::string message;
};
std::vector<std::string>* heard = nullptr;
void on_error(const char* message) { throw Fault{message}; }
void on_warning(const char* message) {
  if (heard != nullptr) heard->push_back(message);
}

class Handlers {
 public:
  explicit Handlers(std::vector<std::string>& warnings) : error_(mju_user_error), warning_(mju_user_warning) {
    heard = &warnings;
    mju_user_error = on_error;
    mju_user_warning = on_warning;
    mj_setCacheCapacity(mj_getCache(), 0);
  }
  ~Handlers() {
    mj_setCacheCapacity(mj_getCache(), capacity_);
    mju_user_error = error_;
    mju_user_warning = warning_;
    heard = nullptr;
  }

 private:
  std::unique_lock<std::mutex> lock_{mutex()};
  void (*error_)(const char*);
  void (*warning_)(const char*);
  std::size_t capacity_ = mj_getCacheCapacity(mj_getCache());
  static std::mutex& mutex() {
    static std::mutex m;
    return m;
  }
};

}  // namespace

std::vector<KeyClaim> inspect(const std::string& path, const std::vector<std::string>& roots) {
  Inspection inspection(roots);
  inspection.look(path, fs::absolute(path).parent_path());
  return inspection.keys();
}

void check_keys(const std::vector<KeyClaim>& keys, const mjModel& m) {
  const auto n = [](auto size) { return static_cast<int>(size); };
  const std::pair<const char*, int> sizes[] = {{"qpos", n(m.nq)},         {"qvel", n(m.nv)},
                                               {"act", n(m.na)},          {"ctrl", n(m.nu)},
                                               {"mpos", 3 * n(m.nmocap)}, {"mquat", 4 * n(m.nmocap)}};
  for (const KeyClaim& key : keys)
    for (const auto& [attribute, size] : sizes)
      if (key.attribute == attribute && key.numbers != size)
        throw InvalidInput(key.place + " has " + std::to_string(key.numbers) + " numbers of " + attribute +
                           ", the model has " + std::to_string(size));
}

ModelPtr compile(const std::string& path, std::vector<std::string>& warnings) {
  std::vector<std::string> said;
  char error[1000] = "";
  ModelPtr model;
  std::string why;
  try {
    const Handlers handlers(said);
    const std::unique_ptr<mjSpec, void (*)(mjSpec*)> spec(
        mj_parseXML(fs::absolute(path).c_str(), nullptr, error, sizeof error), mj_deleteSpec);
    if (spec) {
      leave_out_pictures(*spec);
      model.reset(mj_compile(spec.get(), nullptr));
      for (int i = 0; model && i < mjs_numWarnings(spec.get()); ++i) said.emplace_back(mjs_getWarning(spec.get(), i));
    }
    if (!model) why = one_line(spec ? mjs_getError(spec.get()) : error);
  } catch (const Fault& fault) {
    throw InvalidInput("robot file '" + path + "': " + fault.message);
  }
  if (!model) {
    const bool plugin = why.find("plugin") != std::string::npos;  // which MuJoCo has only where others loaded it
    throw InvalidInput("robot file '" + path + "': " + why + (plugin ? "; plugins of MuJoCo are not read" : ""));
  }
  if (error[0] != '\0') said.emplace_back(error);
  std::string last;
  for (auto text = said.rbegin(); text != said.rend(); ++text) {
    // The last has all of them, once it is more than one.
    if (last.find(*text) != std::string::npos) continue;
    last = *text;
    warnings.push_back("robot file '" + path + "': " + one_line(last));
  }
  return model;
}

}  // namespace mjcf

}  // namespace tribo
