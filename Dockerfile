# Debian 13: its glibc is new enough for uWebSockets.js.
FROM debian:trixie-slim AS build
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates nodejs npm \
 && npm install --global npm@11 \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY package.json package-lock.json ./
# Everything first: the Node that runs the service is a devDependency, pinned like all others.
# Then only what runs: no development parts, and of uWebSockets.js the one binary for this machine and this Node.
RUN npm ci \
 && cp node_modules/node/bin/node /usr/local/bin/node-24 \
 && npm prune --omit=dev \
 && find node_modules/uWebSockets.js -name 'uws_*.node' \
      ! -name "$(node-24 -p '`uws_linux_${process.arch}_${process.versions.modules}.node`')" -delete

FROM debian:trixie-slim
RUN useradd --uid 10001 --no-create-home --home-dir /app --shell /usr/sbin/nologin countersign \
 && install -d -o countersign -g countersign -m 0700 /data
WORKDIR /app
COPY --from=build /usr/local/bin/node-24 /usr/local/bin/node
COPY --from=build /app/node_modules ./node_modules
COPY package.json LICENSE ./
COPY src ./src
COPY workers ./workers
COPY migrations ./migrations
COPY policies ./policies
COPY docs/handbook ./docs/handbook
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
USER countersign
EXPOSE 3000
VOLUME /data
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/ready`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# The exec form: SIGTERM reaches the service, which drains and exits 0.
CMD ["node", "src/main.ts"]
