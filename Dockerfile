# The gateway in a container: no root, its state in one volume, healthy when it takes requests.
#
#     docker build -t sendable .
#     docker run -p 127.0.0.1:8484:8484 -v sendable:/var/lib/sendable -e OPENAI_API_KEY -e SENDABLE_CLIENT_KEY sendable
#
# Outside of its own loopback a gateway needs client keys: the variable SENDABLE_CLIENT_KEY holds the one that clients have to send. For more,
# mount a configuration file and give `serve --config FILE` as the command.
FROM python:3.13-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY docs/losses docs/losses
COPY src src
RUN python -m venv /opt/sendable && /opt/sendable/bin/pip install --no-cache-dir '.[gateway,redis,postgresql,converse]'

FROM python:3.13-slim
COPY --from=build /opt/sendable /opt/sendable
RUN useradd --system --no-create-home --uid 10001 sendable && install -d -o sendable -g sendable -m 700 /var/lib/sendable
ENV PATH=/opt/sendable/bin:$PATH XDG_STATE_HOME=/var/lib PYTHONUNBUFFERED=1
USER sendable
VOLUME /var/lib/sendable
EXPOSE 8484
# SIGTERM drains: what is running is finished within drain_seconds (30).
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s CMD \
  ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8484/health/ready', timeout=2)"]
ENTRYPOINT ["sendable"]
CMD ["serve", "--host", "0.0.0.0", "--client-key-env", "SENDABLE_CLIENT_KEY", "--upstream", "openai-chat=https://api.openai.com/v1"]
