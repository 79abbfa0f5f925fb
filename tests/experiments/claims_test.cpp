// Every experiment in its quick form: the claims of the papers that are asserted must hold. Those that turned out
// false are recorded as measured ("asserted": false) and must say why.
#include <doctest/doctest.h>

#include "experiment.hpp"

using namespace tribo::experiments;

TEST_CASE("every asserted claim holds in the quick form of its experiment") {
  for (const Experiment& experiment : experiments()) {
    CAPTURE(experiment.name);
    const Json result = run_experiment(experiment, {true, TRIBO_SCENES, ""}, [](double) {});
    for (const Json& claim : result["claims"]) {
      const std::string id = claim["id"], measured = claim["measured"].dump();
      CAPTURE(id);
      CAPTURE(measured);
      if (claim["asserted"].get<bool>())
        CHECK(claim["holds"].get<bool>());
      else
        CHECK(claim.contains("reason"));
    }
  }
}

TEST_CASE("a claim is judged by all of its conditions, and one on an unknown measure is refused") {
  const Json claims = Json::parse(R"([{"id": "a", "text": "", "source": "",
    "conditions": [{"measure": "x", "at_least": 1, "at_most": 2}, {"measure": "y", "at_most": 0}]}])");
  CHECK(judge_claims(claims, {{"x", 1.5}, {"y", -1}})[0]["holds"] == true);
  CHECK(judge_claims(claims, {{"x", 2.5}, {"y", -1}})[0]["holds"] == false);
  CHECK(judge_claims(claims, {{"x", 0.5}, {"y", -1}})[0]["holds"] == false);
  CHECK(judge_claims(claims, {{"x", 1.5}, {"y", std::nan("")}})[0]["holds"] == false);
  CHECK_THROWS(judge_claims(claims, {{"x", 1.5}}));
}

TEST_CASE("a result names no folder of the machine") {
  const Json result = run_experiment(experiments().front(), {true, TRIBO_SCENES, ""}, [](double) {});
  CHECK(result.dump().find(TRIBO_SCENES) == std::string::npos);
}
