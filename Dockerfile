# The image of the controller: one static program and nothing else.
#
#   docker build --build-arg VERSION=$(git describe --tags --always) -t registry.example.com/orrery:v1 .
#
# Builds of the same sources with the same Go are identical, byte for byte. docs/operate/running.md says how to pin Go's image
# by its digest, and how to make the layers identical as well.
ARG GO_IMAGE=golang:1.26.8

FROM --platform=$BUILDPLATFORM ${GO_IMAGE} AS build
WORKDIR /src
COPY . .
# A builder sets these only if they have no default.
ARG TARGETOS TARGETARCH
ARG VERSION=unknown
# There is no "go mod download" in front, which would fetch the modules of the laboratory and of the tests too: go build
# fetches only those that the program links.
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -buildvcs=false -ldflags "-s -w -buildid= -X orrery/internal/app/program.Version=$VERSION" -o /out/orrery ./cmd/orrery

# Nothing else is needed: the CA certificate comes with the service account, the program is static, and it writes no files.
FROM scratch
ARG VERSION=unknown
LABEL org.opencontainers.image.title="orrery" \
      org.opencontainers.image.description="The namespace controller of Kubernetes, on a runtime built by hand" \
      org.opencontainers.image.version="$VERSION"
COPY --from=build /out/orrery /orrery
USER 65532:65532
ENTRYPOINT ["/orrery"]
CMD ["run"]
