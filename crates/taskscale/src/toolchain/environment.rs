//! The environment of builds and version commands.
//!
//! The user's variables may determine *where* things are, *which* toolchain is meant (its version, found in the
//! same environment, is part of every digest) or *how* the network is reached. They must not determine how to
//! build: CFLAGS, RUSTFLAGS, GOAMD64, CC, CARGO_PROFILE_*, MAVEN_OPTS and the like would make another program
//! than the manifest describes. So only variables that match the rules below pass, and those named in
//! `TASKSCALE_BUILD_ENV`, which are part of the digest.

use std::collections::BTreeSet;
use std::env;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use regex_lite::Regex;

use crate::catalog::ToolchainSpec;

/// Names further variables to pass to builds, separated by commas.
const EXTRA_VARIABLE: &str = "TASKSCALE_BUILD_ENV";

/// Patterns of names (in upper case) of variables to pass.
const PASSING: [&str; 4] = [
    // The user, the programs, the language of messages, and opt-outs of telemetry.
    "^(PATH|HOME|USER|LOGNAME|TZ|LANG|TMPDIR|SSH_AUTH_SOCK|DO_NOT_TRACK)$|^(LC_|XDG_)|TELEMETRY",
    // Where toolchains and their caches are (CARGO_HOME, GOMODCACHE, PIP_CACHE_DIR).
    "(HOME|CACHE|CACHE_DIR)$|^(GOPATH|GOROOT|DOTNET_ROOT|OPAMROOT|NUGET_PACKAGES)$",
    // Which of several toolchains is meant (RUSTUP_TOOLCHAIN, GOTOOLCHAIN, PYENV_VERSION), as version managers read it.
    "(TOOLCHAIN|ENV_VERSION|OPAMSWITCH)$|^(RUSTUP|PYENV|RBENV|ASDF|MISE|SDKMAN)_",
    // How registries are reached: proxies, certificates, mirrors, passwords.
    "^(CARGO_NET_|CARGO_HTTP_|NETRC)|PROXY|CERT|CA_BUNDLE|CAINFO|REGISTRY|REGISTRIES|INDEX_URL|FIND_LINKS|\
     TRUSTED_HOST|^(GOSUMDB|GONOSUMDB|GOPRIVATE|GOINSECURE|GOAUTH|GOVCS)$",
];

/// Whether a variable reaches builds by the rules.
fn passes(name: &str, spec: &ToolchainSpec) -> bool {
    static RULES: LazyLock<Vec<Regex>> =
        LazyLock::new(|| PASSING.iter().flat_map(|pattern| Regex::new(pattern)).collect());
    // `https_proxy`, `npm_config_registry`
    let upper = name.to_ascii_uppercase();
    let named = spec.locate.as_ref().and_then(|locate| locate.env.as_deref()) == Some(name);
    // taskscale's own variables do not concern builds.
    !upper.starts_with("TASKSCALE_") && (named || RULES.iter().any(|rule| rule.is_match(&upper)))
}

/// The variables named by `TASKSCALE_BUILD_ENV`, with their values, sorted by name.
pub(super) fn extra() -> BTreeSet<(String, String)> {
    let named = env::var(EXTRA_VARIABLE).unwrap_or_default();
    let value = |name: &str| Some((name.to_owned(), env::var_os(name)?.to_string_lossy().into_owned()));
    named.split(',').map(str::trim).filter_map(value).collect()
}

/// Replaces a command's environment by this one. A toolchain's variable, such as JAVA_HOME, is set to `home`,
/// as Maven would use the JDK of PATH.
pub(super) fn give(command: &mut Command, spec: &ToolchainSpec, home: Option<&Path>) {
    let passing = env::vars_os().filter(|(name, _)| name.to_str().is_some_and(|name| passes(name, spec)));
    command.env_clear().envs(passing).envs(extra());
    let names_it = spec.locate.as_ref().and_then(|locate| locate.env.as_ref());
    command.envs(names_it.zip(home));
    if let Some(pinned) = &spec.pinned {
        let others = env::var_os("PATH").unwrap_or_default();
        let own = std::iter::once(pinned.home.join("bin"));
        // A folder with a colon in its name cannot be in PATH.
        command.env("PATH", env::join_paths(own.chain(env::split_paths(&others))).unwrap_or(others.clone()));
        command.envs(spec.versions.iter().flat_map(|versions| &versions.env));
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::catalog::Catalog;

    fn spec() -> ToolchainSpec {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../runtimes");
        let catalog = Catalog::load(&folder).expect("the catalog of the repository");
        catalog.entries().find(|(_, entry)| entry.full_name == "java/thread").unwrap().1.toolchain.clone()
    }

    #[test]
    fn lookup_variables_pass_and_build_variables_do_not() {
        let spec = spec();
        let passing = [
            "PATH",
            "HOME",
            "LC_ALL",
            "XDG_CACHE_HOME",
            "CARGO_HOME",
            "RUSTUP_HOME",
            "RUSTUP_TOOLCHAIN",
            "GOPATH",
            "GOCACHE",
            "GOMODCACHE",
            "GOPROXY",
            "GOTOOLCHAIN",
            "JAVA_HOME",
            "GRADLE_USER_HOME",
            "DOTNET_ROOT",
            "DOTNET_CLI_HOME",
            "DOTNET_CLI_TELEMETRY_OPTOUT",
            "PIP_INDEX_URL",
            "PIP_CACHE_DIR",
            "npm_config_registry",
            "https_proxy",
            "NO_PROXY",
            "SSL_CERT_FILE",
            "NODE_EXTRA_CA_CERTS",
            "REQUESTS_CA_BUNDLE",
            "CARGO_REGISTRIES_MINE_TOKEN",
            "CARGO_NET_GIT_FETCH_WITH_CLI",
            "PYENV_VERSION",
            "OPAMSWITCH",
        ];
        let stopped = [
            "RUSTFLAGS",
            "CARGO_BUILD_RUSTFLAGS",
            "CARGO_ENCODED_RUSTFLAGS",
            "CARGO_PROFILE_RELEASE_OPT_LEVEL",
            "CARGO_PROFILE_RELEASE_LTO",
            "CARGO_BUILD_TARGET",
            "CARGO_TARGET_DIR",
            "RUSTC_WRAPPER",
            "RUSTC",
            "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER",
            "GOAMD64",
            "GOFLAGS",
            "GOEXPERIMENT",
            "GOARCH",
            "CGO_ENABLED",
            "CGO_CFLAGS",
            "CC",
            "CXX",
            "LD",
            "CFLAGS",
            "CPPFLAGS",
            "LDFLAGS",
            "CPATH",
            "LIBRARY_PATH",
            "LD_PRELOAD",
            "LD_LIBRARY_PATH",
            "JAVA_TOOL_OPTIONS",
            "JDK_JAVA_OPTIONS",
            "MAVEN_OPTS",
            "MAVEN_ARGS",
            "DOTNET_TieredPGO",
            "DOTNET_gcServer",
            "Configuration",
            "LangVersion",
            "NODE_OPTIONS",
            "PYTHONPATH",
            "PIP_NO_BINARY",
            "ERL_COMPILER_OPTIONS",
            "ELIXIR_ERL_OPTIONS",
            "GHC_ENVIRONMENT",
            "OCAMLPARAM",
            "RUBYOPT",
            "CRYSTAL_OPTS",
            "OPENSSL_DIR",
            "MAKEFLAGS",
            "SOURCE_DATE_EPOCH",
            "TASKSCALE_CACHE",
        ];
        for name in passing {
            assert!(passes(name, &spec), "{name} is kept from builds");
        }
        for name in stopped {
            assert!(!passes(name, &spec), "{name} reaches builds");
        }
    }

    #[test]
    fn home_variable_names_the_found_toolchain() {
        let mut command = Command::new("mvn");
        give(&mut command, &spec(), Some(Path::new("/opt/jdk")));
        let java_home = command.get_envs().find(|(name, _)| *name == "JAVA_HOME");
        assert_eq!(java_home.and_then(|(_, value)| value), Some("/opt/jdk".as_ref()));
    }
}
