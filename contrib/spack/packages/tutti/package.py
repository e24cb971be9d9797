# tutti as a Spack package. This folder is a repository of Spack's; from the source tree:
#
#   spack repo add contrib/spack
#   spack dev-build tutti@0.1.0
#
# Sites with a repository of their own copy packages/tutti into its packages folder.
# The build fetches Go modules: give GOPROXY or GOFLAGS=-mod=vendor where nodes have no
# network. MPI is no dependency: tutti compiles its benchmark with the compiler of the
# library that is tuned (tutti build benchmark).

from spack.package import *


class Tutti(Package):
    """Tunes MPI collectives from few benchmark runs and writes the selection files that
    MPICH and Open MPI load."""

    license("Apache-2.0")

    version("0.1.0")

    depends_on("go@1.26:", type="build")

    def setup_build_environment(self, env):
        env.set("CGO_ENABLED", "0")
        env.set("GOCACHE", join_path(self.stage.path, "go-build"))
        env.set("GOTOOLCHAIN", "local")

    def install(self, spec, prefix):
        mkdirp(prefix.bin)
        go = which("go", required=True)
        go("build", "-trimpath", "-ldflags", "-s -w", "-o", prefix.bin.tutti, "./cmd/tutti")

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_version(self):
        self.test_version()

    def test_version(self):
        """tutti says the version that was built"""
        tutti = Executable(self.prefix.bin.tutti)
        said = tutti("version", output=str.split, error=str.split)
        if f"tutti {self.spec.version}" not in said:
            raise RuntimeError(f"tutti version says {said}")
