#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iomanip>
#include <optional>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "interstice/settings.hpp"

namespace interstice {

static_assert(std::endian::native == std::endian::little, "Bulk fields are sent in memory order, which must be little-endian.");

/// Encodes numbers as the bytes of a bulk field: `mesh.set_triangles(pack<std::uint32_t>(triangles))`.
template <typename T>
std::string pack(std::span<const std::type_identity_t<T>> values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size_bytes());
}

/// Decodes the bytes of a bulk field. @throws std::invalid_argument unless they are whole numbers of this type
template <typename T>
std::vector<T> unpack(const std::string& bytes) {
  if (bytes.size() % sizeof(T) != 0) {
    throw std::invalid_argument(std::to_string(bytes.size()) + " bytes are no list of numbers of " + std::to_string(sizeof(T)) +
                                " bytes each.");
  }
  std::vector<T> values(bytes.size() / sizeof(T));
  // An empty vector has no address that memcpy may be given.
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// A mesh of triangles. @param triangles [3·T] @param kinematic [V], 1 = an obstacle, or empty
inline v1::Mesh meshOf(std::uint32_t vertexCount, const std::vector<std::uint32_t>& triangles,
                       const std::vector<std::uint8_t>& kinematic = {}) {
  v1::Mesh mesh;
  mesh.set_vertex_count(vertexCount);
  mesh.set_triangles(pack<std::uint32_t>(triangles));
  mesh.set_kinematic(pack<std::uint8_t>(kinematic));
  return mesh;
}

/// @tparam T float or double
template <typename T>
v1::Positions positionsOf(std::span<const T> values) {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>);
  v1::Positions positions;
  positions.set_scalar(std::is_same_v<T, double> ? v1::FLOAT64 : v1::FLOAT32);
  positions.set_data(values.data(), values.size_bytes());
  return positions;
}

/// @throws std::invalid_argument for a time that a duration of protobuf cannot hold: more than 10,000 years
inline void setDuration(google::protobuf::Duration& duration, Seconds seconds) {
  constexpr double kLongest = 315'576'000'000;
  const double count = seconds.count();
  if (!(std::abs(count) <= kLongest)) {
    throw std::invalid_argument("A duration is " + detail::numberOf(count) + " s; at most " + detail::numberOf(kLongest) +
                                " s are possible.");
  }
  // In two parts: 64 bits hold the nanoseconds of 292 years only.
  const double whole = std::trunc(count);
  const auto nanoseconds = std::llround((count - whole) * 1e9);  // up to a whole second
  duration.set_seconds(static_cast<std::int64_t>(whole) + nanoseconds / 1'000'000'000);
  duration.set_nanos(static_cast<std::int32_t>(nanoseconds % 1'000'000'000));
}

/// The time budget of a request; unset = none.
template <typename Request>
std::optional<Seconds> budgetOf(const Request& request) {
  if (!request.has_time_budget()) return std::nullopt;
  return Seconds(static_cast<double>(request.time_budget().seconds()) + request.time_budget().nanos() * 1e-9);
}

/// 128 random bits.
inline std::string randomKey() {
  std::ostringstream text;
  text << std::hex << std::setfill('0') << std::setw(16) << randomness()() << std::setw(16) << randomness()();
  return text.str();
}

}  // namespace interstice
