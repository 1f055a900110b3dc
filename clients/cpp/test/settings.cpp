// What the client refuses to be told, without a service. test/clients/settings.test.ts and clients/python/test_settings.py
// refuse the same.
#include "checks.hpp"

static constexpr double kLongestSeconds = 2'147'483;
static const std::vector<double> kBeyond{std::nan(""), -1, HUGE_VAL, kLongestSeconds + 1};

template <typename Work>
static void checkRefused(const std::string& what, const std::string& words, Work&& work) {
  try {
    work();
    check(false, what + " is accepted");
  } catch (const std::invalid_argument& error) {
    check(std::string(error.what()).find(words) != std::string::npos, what + " is refused: " + error.what());
  }
}

static void checkRefused(const std::string& words, const ClientOptions& options) {
  checkRefused("a client", words, [&] { Client client("127.0.0.1:1", options); });
}

/// The Python client, which has the same library and the same values, is tested with a connection that stalls.
static void testSignsOfLife() {
  const auto options = channelArguments();
  const auto arguments = options.c_channel_args();
  int found = 0;
  for (std::size_t i = 0; i < arguments.num_args; i++) {
    const std::string key = arguments.args[i].key;
    if (key == GRPC_ARG_KEEPALIVE_TIME_MS || key == GRPC_ARG_KEEPALIVE_TIMEOUT_MS) found += arguments.args[i].value.integer == 60'000;
    if (key == GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA) found += arguments.args[i].value.integer == 0;
  }
  check(found == 3, "a connection that stalls is broken");
}

static void testWire() {
  check(unpack<float>("").empty(), "an empty list has no number");
  checkRefused("three bytes", "3 bytes are no list of numbers of 4 bytes each.", [] { unpack<float>("abc"); });
  google::protobuf::Duration duration;
  for (const auto& [time, seconds, nanos] :
       {std::tuple{1.5, 1LL, 500'000'000}, {-1.5, -1LL, -500'000'000}, {2.3, 2LL, 300'000'000}, {0.9999999999, 1LL, 0}, {3e11, 300'000'000'000LL, 0}}) {
    setDuration(duration, Seconds(time));
    check(duration.seconds() == seconds && duration.nanos() == nanos, "a duration of " + std::to_string(time) + " s");
  }
  for (const double time : {std::nan(""), HUGE_VAL, 1e12, -1e12}) {
    checkRefused("a duration", "A duration is ", [&] { setDuration(duration, Seconds(time)); });
  }
}

void testSettings() {
  testSignsOfLife();
  testWire();
  for (const std::string url : {"", "ftp://host", "grpc://", "grpc://host:port", "grpc://host:", "grpc://host?a=b", "grpc://host/#a",
                                "grpc://host/path", " grpc://host"}) {
    checkRefused("an address", url + " is not an address of the form", [&] { Client client(url); });
  }
  checkRefused("a password", "An address has no user name and", [] { Client client("grpc://me:secret@host"); });
  for (const std::string url : {"127.0.0.1:1", "grpc://127.0.0.1:1/", "grpc://[::1]:1", "grpc://[::1]", "unix:/nowhere"}) Client client(url);
  check(addressOf("grpc://127.0.0.1:1/").place == "127.0.0.1:1", "a slash at the end of an address is no part of a port");

  for (const std::string key : {"key\n", "a b", " ", "cl\u00e9", "\u20ac"}) {
    checkRefused("apiKey has spaces, line breaks or letters beyond ASCII", {.apiKey = key});
  }
  Client accepted("127.0.0.1:1", {.apiKey = "a+/=~!", .retry = {.attempts = 1, .firstPause = Seconds(0)},
                                  .timeout = Seconds(kLongestSeconds), .allowance = Seconds(HUGE_VAL)});
  for (const int attempts : {0, -1}) {
    checkRefused("retry.attempts is " + std::to_string(attempts) + ", expected a whole number", {.retry = {.attempts = attempts}});
  }
  for (const double time : kBeyond) {
    checkRefused("retry.firstPause is ", {.retry = {.firstPause = Seconds(time)}});
    checkRefused("retry.longestPause is ", {.retry = {.longestPause = Seconds(time)}});
    checkRefused("retry.longestRetryAfter is ", {.retry = {.longestRetryAfter = Seconds(time)}});
    checkRefused("; more than 0 and at most 2147483 s are possible.", {.timeout = Seconds(time)});
    if (!(time > 0)) checkRefused(", expected a number of seconds from 0.", {.allowance = Seconds(time)});
    checkRefused("an idle timeout", "; from 0 to 2147483 s are possible.",
                 [&] { accepted.session(pair(), lowered<float>(0), {.idleTimeout = Seconds(time)}); });
    checkRefused("a time budget", "timeBudget is ", [&] { Deadline(Seconds(time), Seconds(0)); });
  }
  checkRefused("timeout is 0; more than 0", {.timeout = Seconds(0)});
  v1::ResolveRequest request;
  request.mutable_time_budget();
  checkRefused("a time budget of 0", "timeBudget is 0; more than 0", [&] { accepted.resolve(request); });
}
