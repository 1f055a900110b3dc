#pragma once

// Helpers that the tests of the headers share.
#include <iostream>

#include "interstice/client.hpp"

using namespace interstice;

inline int passed = 0, failed = 0;

inline void check(bool isRight, const std::string& what) {
  (isRight ? passed : failed)++;
  std::cout << (isRight ? " ok   " : "FAIL  ") << "c++: " << what << "\n";
}

template <typename Work>
std::optional<ServiceError> refusalOf(Work&& work) {
  try {
    work();
  } catch (const ServiceError& error) {
    return error;
  }
  return std::nullopt;
}

/// A server with one service on a free port of this machine, until the end of its scope.
class Served {
 public:
  explicit Served(grpc::Service& service) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(&service);
    server_ = builder.BuildAndStart();
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  grpc::Server* operator->() const { return server_.get(); }

 private:
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

/// Two triangles; the second one is moved through the first, which is an obstacle.
inline v1::Mesh pair() {
  return meshOf(6, {0, 1, 2, 3, 4, 5}, {1, 1, 1, 0, 0, 0});
}

template <typename T>
std::vector<T> lowered(T by) {
  const T z = T(0.1) - by;
  return {0, 0, 0, 1, 0, 0, 0, 1, 0, T(0.2), T(0.2), z, T(1.2), T(0.2), z, T(0.2), T(1.2), z};
}

void testJobs(const Client& client);
void testUntanglingAsJob(const Client& client);
void testMetadata();
void testLostFrames();
void testGivenUpOpenings();
void testRefusedStream();
void testForeignAnswers();
void testLastAttempt();
void testSpentAttempts();
void testLimits();
void testSettings();

/// A tangle of two triangles that are parts, with the hint that frees them.
inline v1::UntangleRequest tangle() {
  v1::UntangleRequest request;
  *request.mutable_mesh() = meshOf(6, {0, 1, 2, 3, 4, 5});
  for (const std::uint32_t first : {0, 3}) {
    auto& part = *request.mutable_mesh()->add_parts();
    part.set_name(first == 0 ? "lower" : "upper");
    part.set_first_vertex(first), part.set_vertex_count(3);
  }
  const std::vector<double> pierced{0, 0, 0, 1, 0, 0, 0, 1, 0, .2, .2, -.1, .2, .4, .9, .4, .2, .9};
  *request.mutable_positions() = positionsOf(std::span<const double>(pierced));
  auto& layer = *request.mutable_options()->add_layers();
  layer.set_inner("lower"), layer.set_outer("upper");
  return request;
}
