# syntax=docker/dockerfile:1
# Every step that does more than copy is a script or an npm command that the CI run uses as well.

# ---- only what runs
FROM node:24-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
COPY deploy/container-build.sh deploy/
# The WebGPU library lies apart: only one of the two images has it.
RUN deploy/container-build.sh packages /image && mv /image/node_modules/webgpu /webgpu

# ---- compile
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY . .
RUN deploy/container-build.sh files /image

# ---- what both images have besides the service: a system, Node's program alone, settings
FROM debian:bookworm-slim AS base
COPY --from=node:24-bookworm-slim /usr/local/bin/node /usr/local/bin/node
RUN groupadd --gid 1000 node && useradd --uid 1000 --gid node --create-home node \
  && install -d -o node -g node -m 700 /var/cache/interstice
WORKDIR /app
ENV NODE_ENV=production
# Inside the container every interface: which of them is reachable is decided where the port is published. Without API
# keys the service then starts only if INTERSTICE_INSECURE=1 says so (see docker-compose.yml). The admin port has no keys
# and stays inside until INTERSTICE_ADMIN_HOST is set.
ENV INTERSTICE_HOST=0.0.0.0
EXPOSE 8080 50051 9090
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.INTERSTICE_HTTP_PORT ?? 8080}/livez`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# Node itself, not npm, so that it gets the signal that asks it to drain.
CMD ["node", "dist/src/cli/main.js", "serve"]

# ---- the service with the engine cpu alone: docker build --target cpu
FROM base AS cpu
COPY --from=packages /image ./
COPY --from=build /image ./
USER node
ENV INTERSTICE_ENGINE=cpu

# ---- the service, with both engines
FROM base
# Software Vulkan: without a graphics card passed in, the WebGPU engine still finds an adapter.
# NVIDIA's Vulkan driver comes from the host by its container runtime, but loads the other libraries, of the image.
COPY deploy/install-software-vulkan.sh deploy/container-dpkg.cfg /tmp/
RUN mv /tmp/container-dpkg.cfg /etc/dpkg/dpkg.cfg.d/interstice \
  && /tmp/install-software-vulkan.sh \
  && apt-get install -y --no-install-recommends libegl1 libx11-6 libxext6 \
  && rm -rf /tmp/install-software-vulkan.sh /var/lib/apt/lists/* /var/cache/apt/*

COPY --from=packages /image ./
COPY --from=packages /webgpu node_modules/webgpu
COPY --from=build /image ./

USER node
# What NVIDIA's container runtime hands in when it is the one that starts this; no other runtime reads them. Vulkan is
# "graphics"; the runtime brings the driver's own ICD file, which the loader finds beside the software driver's.
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=graphics,utility,compute
# Where clusters mount the driver without telling the linker.
ENV LD_LIBRARY_PATH=/usr/local/nvidia/lib64:/usr/local/nvidia/lib
# What the graphics driver compiles: a volume, so that a read-only root has it too. Name it to keep kernels from one container to the next.
ENV INTERSTICE_SHADER_CACHE=/var/cache/interstice
VOLUME /var/cache/interstice
