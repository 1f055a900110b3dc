# syntax=docker/dockerfile:1
# Every step that does more than copy is a script or an npm command that the CI run uses as well.

# ---- compile
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY . .
RUN node deploy/prepare.mjs --force

# ---- only what runs
FROM node:24-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --no-audit --no-fund

# ---- the service
FROM node:24-bookworm-slim
# Software Vulkan: without a graphics card passed in, the WebGPU engine still finds an adapter.
COPY deploy/install-software-vulkan.sh /tmp/install-software-vulkan.sh
RUN /tmp/install-software-vulkan.sh && rm -rf /tmp/install-software-vulkan.sh /var/lib/apt/lists/*

WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY package.json LICENSE ./
COPY proto proto
COPY gpu/kernels gpu/kernels
COPY examples/pairs examples/pairs
COPY --from=build /app/dist/src dist/src
COPY --from=build /app/dist/gpu dist/gpu

USER node
ENV NODE_ENV=production
# Inside the container every interface: which of them is reachable is decided where the port is published. Without API
# keys the service then starts only if INTERSTICE_INSECURE=1 says so (see docker-compose.yml).
ENV INTERSTICE_HOST=0.0.0.0
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.INTERSTICE_HTTP_PORT ?? 8080}/livez`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# Node itself, not npm, so that it gets the signal that asks it to drain.
CMD ["node", "dist/src/cli/main.js", "serve"]
