#pragma once

#include <google/protobuf/any.pb.h>
#include <google/protobuf/empty.pb.h>
#include <google/protobuf/unknown_field_set.h>
#include <grpcpp/grpcpp.h>

#include <optional>
#include <stdexcept>
#include <string>

#include "interstice/v1/collision.pb.h"

namespace interstice {

// Codes that no server sends: the client detects these failures.
inline constexpr const char* kUnreachable = "UNREACHABLE";             // the port is closed, or the connection broke
inline constexpr const char* kTlsRefused = "TLS_REFUSED";  // one side does not trust the other's certificate, or no TLS
inline constexpr const char* kUnexpectedAnswer = "UNEXPECTED_ANSWER";  // not of this service
inline constexpr const char* kTimeout = "TIMEOUT";                     // none within the client's own time limit
inline constexpr const char* kCancelled = "CANCELLED";                 // the session is closed

/// A refusal in the server's words: code, message, hint, retryable, pairs with their complete number, request id.
/// The server, not a table of this client, decides whether a call is retryable.
class ServiceError : public std::runtime_error {
 public:
  explicit ServiceError(v1::Error error, bool isUncertain = false)
      : std::runtime_error(error.code() + ": " + error.message() + hintOf(error)),
        error_(std::move(error)),
        isUncertain_(isUncertain) {}

  /// A failure that the client detects.
  static ServiceError local(const char* code, const std::string& message, bool isRetryable = false,
                            bool isUncertain = true, const char* hint = "") {
    v1::Error error;
    error.set_code(code);
    error.set_message(message);
    error.set_hint(hint);
    error.set_retryable(isRetryable);
    return ServiceError(std::move(error), isUncertain);
  }

  const std::string& code() const { return error_.code(); }
  bool isRetryable() const { return error_.retryable(); }
  const v1::Error& error() const { return error_; }
  /// Whether the server may have executed the request nevertheless, at one of its attempts.
  bool isUncertain() const { return isUncertain_; }
  /// Seconds; 0 if the server does not say.
  double retryAfter() const { return error_.retry_after().seconds() + error_.retry_after().nanos() * 1e-9; }

  /// An answer of another service, which protobuf reads as a message without fields.
  static ServiceError unexpected(const std::string& message) {
    return local(kUnexpectedAnswer, message, false, true, "Is this the address of an Interstice server?");
  }

 private:
  static std::string hintOf(const v1::Error& error) { return error.hint().empty() ? "" : " (" + error.hint() + ")"; }

  v1::Error error_;
  bool isUncertain_;
};

/// The contract's Error in the trailer of a call. No Debian package contains its envelope, google.rpc.Status; its details
/// (field 3) are read as the unknown fields of an empty message.
inline std::optional<v1::Error> detailOf(const grpc::Status& status) {
  google::protobuf::Empty envelope;
  if (!envelope.ParseFromString(status.error_details())) return std::nullopt;
  const auto& fields = envelope.GetReflection()->GetUnknownFields(envelope);
  for (int i = 0; i < fields.field_count(); i++) {
    const auto& field = fields.field(i);
    google::protobuf::Any any;
    v1::Error error;
    if (field.number() != 3 || field.type() != google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED) continue;
    if (any.ParseFromString(field.length_delimited()) && any.UnpackTo(&error)) return error;
  }
  return std::nullopt;
}

/// REFUSED_STREAM in the library's words: by RFC 9113, 8.7, the server did not process the call. If the words change, the
/// call counts as uncertain, which costs a new session and is as safe.
inline bool isRefusedStream(const grpc::Status& status) {
  return status.error_code() == grpc::StatusCode::UNAVAILABLE &&
         status.error_message().ends_with("RST_STREAM with error code 7");
}

/// @param isAnswered whether this stream has received a message, so that the server cannot have refused it
inline ServiceError errorOf(const grpc::Status& status, bool isAnswered = false) {
  if (auto error = detailOf(status)) return ServiceError(std::move(*error));
  switch (status.error_code()) {
    // Without the contract's Error these come from the library or a proxy: the connection broke or was never established.
    case grpc::StatusCode::UNAVAILABLE:
    case grpc::StatusCode::INTERNAL:
    case grpc::StatusCode::UNKNOWN:
      return ServiceError::local(kUnreachable, "The server cannot be reached, or the connection broke: " + status.error_message(),
                                 true, isAnswered || !isRefusedStream(status),
                                 "Is the server running, and is this its address? grpcs:// uses TLS, grpc:// does not.");
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return ServiceError::local(kTimeout, "No answer within the time limit of the client.");
    default:
      return ServiceError::local(kUnexpectedAnswer, "The call ended with gRPC status " +
                                                        std::to_string(status.error_code()) + ": " +
                                                        status.error_message());
  }
}

}  // namespace interstice
