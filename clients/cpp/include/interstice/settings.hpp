#pragma once

#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>
#include <string>

#include "interstice/retry.hpp"

namespace interstice {

// What the client refuses to be told, with std::invalid_argument. The clients in TypeScript and Python refuse the same
// values, in the same words.

/// What a caller may set anywhere, 24 days, as in the TypeScript client. The clock of this client counts nanoseconds in 64
/// bits, which hold 292 years.
inline constexpr Seconds kLongestTime{2'147'483};

namespace detail {

inline std::string numberOf(double number) {
  std::ostringstream text;
  text.precision(17);
  text << number;
  return text.str();
}

}  // namespace detail

inline void checkTime(const std::string& name, Seconds time) {
  if (time > Seconds(0) && time <= kLongestTime) return;
  throw std::invalid_argument(name + " is " + detail::numberOf(time.count()) + "; more than 0 and at most " +
                              detail::numberOf(kLongestTime.count()) + " s are possible.");
}

/// The same from 0 on.
inline void checkPause(const std::string& name, Seconds time) {
  if (time >= Seconds(0) && time <= kLongestTime) return;
  throw std::invalid_argument(name + " is " + detail::numberOf(time.count()) + "; from 0 to " +
                              detail::numberOf(kLongestTime.count()) + " s are possible.");
}

/// A time that is added to others: any number from 0. @returns it, or a number that is longer than any attempt
inline Seconds checkedAllowance(const std::string& name, Seconds time) {
  if (time >= Seconds(0)) return std::min(time, kLongestTime);
  throw std::invalid_argument(name + " is " + detail::numberOf(time.count()) + ", expected a number of seconds from 0.");
}

inline void checkRetry(const Retry& retry) {
  if (retry.attempts < 1) {
    throw std::invalid_argument("retry.attempts is " + std::to_string(retry.attempts) + ", expected a whole number from 1.");
  }
  checkPause("retry.firstPause", retry.firstPause);
  checkPause("retry.longestPause", retry.longestPause);
  checkPause("retry.longestRetryAfter", retry.longestRetryAfter);
}

/// Empty = none. Does not repeat the key.
inline void checkApiKey(const std::string& key) {
  // What every service accepts and every header can hold: not the line break after a key that was read from a file.
  if (std::all_of(key.begin(), key.end(), [](char letter) { return letter >= '!' && letter <= '~'; })) return;
  throw std::invalid_argument("apiKey has spaces, line breaks or letters beyond ASCII, which no key of a service has.");
}

/// The part of an address that the gRPC library takes.
struct Address {
  std::string place;
  bool isEncrypted;
};

inline Address addressOf(const std::string& url) {
  const auto end = url.find("://");
  // Without a scheme it is one of the library's own, such as unix:PATH.
  if (end == std::string::npos && !url.empty()) return {url, false};
  const auto scheme = end == std::string::npos ? "" : url.substr(0, end);
  auto place = end == std::string::npos ? "" : url.substr(end + 3);
  while (place.ends_with('/')) place.pop_back();
  if (place.find('@') != std::string::npos) {
    throw std::invalid_argument("An address has no user name and no password. The key of a service is the option apiKey.");
  }
  // The port follows the last colon, unless that is part of an IPv6 address in brackets.
  const auto colon = place.find_last_of(":]");
  const bool hasPort = colon != std::string::npos && place[colon] == ':';
  const auto port = hasPort ? place.substr(colon + 1) : "1";
  const bool isRight = (scheme == "grpc" || scheme == "grpcs") && !place.empty() && colon != 0 && !port.empty() &&
                       port.find_first_not_of("0123456789") == std::string::npos &&
                       place.find_first_of("/?# \t\r\n") == std::string::npos;
  if (!isRight) throw std::invalid_argument(url + " is not an address of the form grpc://host:port or grpcs://host:port.");
  return {place, scheme == "grpcs"};
}

}  // namespace interstice
