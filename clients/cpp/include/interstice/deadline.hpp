#pragma once

#include <algorithm>
#include <optional>

#include "interstice/settings.hpp"

namespace interstice {

/// The time budget of a call, which covers all of its attempts. Without a budget it limits nothing.
class Deadline {
 public:
  Deadline() = default;

  /// @param allowance beyond the budget and the share of it by which the server may be late (docs/api.md, Time budgets), for
  /// the way there and back
  /// @throws std::invalid_argument for a budget that is not more than 0, or longer than kLongestTime
  Deadline(std::optional<Seconds> budget, Seconds allowance) {
    if (!budget) return;
    checkTime("timeBudget", *budget);
    constexpr double kGrace = 1.0 / 8;
    const auto now = Clock::now();
    const auto longest = *budget * (1 + kGrace) + allowance;
    endsAt_ = now + std::chrono::duration_cast<Clock::duration>(*budget);
    answeredBy_ = now + std::chrono::duration_cast<Clock::duration>(longest);
  }

  /// No attempt starts after this time.
  Clock::time_point endsAt() const { return endsAt_; }

  /// What is left of the budget for an attempt that starts at once.
  std::optional<Seconds> left() const { return until(endsAt_); }

  /// What an attempt that starts at once may take.
  std::optional<Seconds> limit() const { return until(answeredBy_); }

 private:
  /// A budget of 0 would mean none.
  static constexpr Seconds kSmallest{0.001};

  static std::optional<Seconds> until(Clock::time_point end) {
    if (end == Clock::time_point::max()) return std::nullopt;
    return std::max(kSmallest, Seconds(end - Clock::now()));
  }

  Clock::time_point endsAt_ = Clock::time_point::max();
  Clock::time_point answeredBy_ = Clock::time_point::max();
};

}  // namespace interstice
