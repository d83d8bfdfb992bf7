# Debian 13: its glibc is new enough for uWebSockets.js.
FROM debian:trixie-slim AS packages
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates nodejs npm \
 && npm install --global npm@11 \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY package.json package-lock.json ./
# Everything first: the Node that runs the service is a devDependency, pinned like all others.
RUN npm ci && cp node_modules/node/bin/node /usr/local/bin/node-24

# The pages need development parts, which are gone in the stage after this one.
FROM packages AS pages
COPY tsconfig.json ./
COPY tools ./tools
COPY src ./src
RUN npm run pages

FROM packages AS production
# Only what runs: no development parts; no source maps; of uWebSockets.js and sodium-native the one binary for this machine and this
# Node. test/deploy/image.test.ts runs this step.
RUN npm prune --omit=dev --no-audit --no-fund \
 && find node_modules -name '*.map' -delete \
 && find node_modules/uWebSockets.js -name 'uws_*.node' \
      ! -name "$(node-24 -p '`uws_linux_${process.arch}_${process.versions.modules}.node`')" -delete \
 && find node_modules/sodium-native/prebuilds -mindepth 1 -maxdepth 1 \
      ! -name "$(node-24 -p '`linux-${process.arch}`')" -exec rm -r {} +

FROM debian:trixie-slim
LABEL org.opencontainers.image.title="Countersign" \
      org.opencontainers.image.description="Executes business transactions under policy and human authority, and proves it with signed receipts." \
      org.opencontainers.image.licenses="Apache-2.0"
RUN useradd --uid 10001 --no-create-home --home-dir /app --shell /usr/sbin/nologin countersign \
 && install -d -o countersign -g countersign -m 0700 /data /keys \
 && ln -s /app/bin/countersign.js /usr/local/bin/countersign
WORKDIR /app
COPY --from=packages /usr/local/bin/node-24 /usr/local/bin/node
COPY --from=production /app/node_modules ./node_modules
# What is read at run time and nothing else; test/deploy/image.test.ts starts a service from these alone.
COPY package.json LICENSE ./
COPY bin ./bin
COPY src ./src
COPY --from=pages /app/src/server/pages/built ./src/server/pages/built
COPY workers ./workers
COPY migrations ./migrations
COPY policies ./policies
COPY webhooks ./webhooks
COPY bench ./bench
COPY docs/handbook ./docs/handbook
COPY clients/typescript/src ./clients/typescript/src
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
USER countersign
EXPOSE 3000
VOLUME /data
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/ready`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# The exec form: SIGTERM reaches the service, which drains and exits 0. As arguments in its place: any `countersign` command.
CMD ["node", "bin/start.js"]
