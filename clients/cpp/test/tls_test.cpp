// Tests of the headers' TLS against a running server: tls_test FOLDER KEY TLS MTLS MISNAMED PLAIN.
// FOLDER contains the certificates; the other arguments are an API key and URLs. Ends with "N passed, N failed, 0 skipped".
#include <iostream>

#include "interstice/client.hpp"

using namespace interstice;

int passed = 0, failed = 0;
std::string folder, apiKey;

void check(bool isRight, const std::string& what) {
  (isRight ? passed : failed)++;
  std::cout << (isRight ? " ok   " : "FAIL  ") << "c++: " << what << std::endl;
}

std::string at(const std::string& name) { return folder + "/" + name; }

Tls tls(const std::string& authority, const std::string& client = "") {
  return client.empty() ? Tls{at(authority + ".crt")}
                        : Tls{at(authority + ".crt"), at(client + ".crt"), at(client + ".key")};
}

/// Enough attempts that the test would time out if a refusal were retried.
ClientOptions patient(const Tls& tls) {
  return {.apiKey = apiKey, .retry = {.attempts = 1'000'000, .firstPause = Seconds(0.005), .longestPause = Seconds(0.005)},
          .tls = tls};
}

void takeSteps(const std::string& what, const std::string& url, const Tls& tls) {
  v1::Mesh mesh;
  mesh.set_vertex_count(6);
  mesh.set_triangles(pack<std::uint32_t>(std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5}));
  mesh.set_kinematic(pack<std::uint8_t>(std::vector<std::uint8_t>{1, 1, 1, 0, 0, 0}));
  const auto lowered = [](float by) {
    const float z = 0.1f - by;
    return std::vector<float>{0, 0, 0, 1, 0, 0, 0, 1, 0, 0.2f, 0.2f, z, 1.2f, 0.2f, z, 0.2f, 1.2f, z};
  };
  const Client client(url, patient(tls));
  for (const bool isStreaming : {false, true}) {
    const auto way = what + (isStreaming ? ", stream" : "");
    auto session = client.session(mesh, lowered(0), {.isStreaming = isStreaming});
    check(session.step(lowered(0.2f)).positions != lowered(0.2f), way + ": a step is held back");
    check(session.step(lowered(0.05f)).message.frame() == 2, way + ": and another one");
    check(session.check().intersection_free() && session.recreations() == 0, way + ": all is free");
    check(session.close(), way + ": the session is closed");
  }
}

void refused(const std::string& what, const std::string& url, const ClientOptions& options, const std::string& code,
             const std::string& hint) {
  try {
    Client(url, options).info();
    check(false, what + ": it was served");
  } catch (const ServiceError& error) {
    check(error.code() == code && error.error().hint().find(hint) != std::string::npos, what + ": " + error.what());
  }
}

void mistaken(const std::string& what, const std::string& url, const ClientOptions& options) {
  try {
    Client client(url, options);
    check(false, what);
  } catch (const std::invalid_argument& error) {
    check(true, what + ": " + error.what());
  }
}

int main(int count, char** words) {
  if (count != 7) return 2;
  folder = words[1], apiKey = words[2];
  const std::string url = words[3], mutualUrl = words[4], misnamed = words[5], plain = words[6];
  takeSteps("TLS", url, tls("ca"));
  takeSteps("mTLS", mutualUrl, tls("ca", "client"));

  auto keyless = patient(tls("ca", "client"));
  keyless.apiKey = "";
  refused("no key", mutualUrl, keyless, "UNAUTHENTICATED", "");
  refused("no authority", url, patient({}), "TLS_REFUSED", "tls.ca");
  refused("another authority", url, patient(tls("other-ca")), "TLS_REFUSED", "tls.ca");
  refused("another name", misnamed, patient(tls("ca")), "TLS_REFUSED", "name");
  refused("no certificate", mutualUrl, patient(tls("ca")), "TLS_REFUSED", "tls.cert");
  refused("a stranger", mutualUrl, patient(tls("ca", "stranger")), "TLS_REFUSED", "tls.cert");
  const auto addressOf = [](const std::string& url) { return url.substr(url.find("://") + 3); };
  refused("no TLS there", "grpcs://" + addressOf(plain), patient(tls("ca")), "TLS_REFUSED", "port");
  ClientOptions twice{.retry = {.attempts = 2}};
  refused("plain to TLS", "grpc://" + addressOf(url), twice, kUnreachable, "TLS");
  refused("plain to TLS, without a scheme", addressOf(url), twice, kUnreachable, "TLS");

  mistaken("a missing file", url, patient(tls("none")));
  mistaken("a file that is not a certificate", url, patient({at("server.ext")}));
  mistaken("a key of another certificate", url, patient({at("ca.crt"), at("client.crt"), at("server.key")}));
  mistaken("a certificate without its key", url, patient({at("ca.crt"), at("client.crt")}));
  mistaken("certificates without TLS", plain, patient(tls("ca")));
  mistaken("an address of HTTP", "https://127.0.0.1:1", {});
  std::cout << passed << " passed, " << failed << " failed, 0 skipped\n";
  return failed == 0 ? 0 : 1;
}
