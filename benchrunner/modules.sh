# Finds the shell function "module": in the installation that the environment names, then
# where Linux packages install it.
for tutti_file in ${MODULESHOME:+"$MODULESHOME/init/bash"} ${LMOD_PKG:+"$LMOD_PKG/init/bash"} \
	/etc/profile.d/modules.sh /etc/profile.d/lmod.sh /etc/profile.d/z00_lmod.sh; do
	if type module >/dev/null 2>&1; then break; fi
	if [ -r "$tutti_file" ]; then . "$tutti_file"; fi
done

# tutti_load MODULE loads a module and ends the shell if it is not loaded. LOADEDMODULES has
# the full name, with the default version. An alias has another name there: then "module
# is-loaded" answers, or a new name in the list, if the exit code of "module" has a meaning.
tutti_load() {
	local before=${LOADEDMODULES:-}
	module load "$1" || { echo "module load $1 did not work"; exit 1; }
	case :${LOADEDMODULES:-}: in *:"${1%/}":* | *:"${1%/}"/*) return 0 ;; esac
	if ! module is-loaded tutti-no-such-module >/dev/null 2>&1; then
		if module is-loaded "$1" >/dev/null 2>&1 || [ "${LOADEDMODULES:-}" != "$before" ]; then return 0; fi
	fi
	echo "module load $1 reported no error, but the module is not loaded. Loaded modules: ${LOADEDMODULES:-none}"
	exit 1
}
