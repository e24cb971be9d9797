-- tutti as a module of Lmod: copy it to a folder of MODULEPATH as tutti/0.1.0.lua, and set root.
local root = "/opt/tutti/0.1.0"

whatis("Name: tutti")
whatis("Version: 0.1.0")
whatis("Description: tunes MPI collectives from few benchmark runs")
help([[tutti tunes MPI collectives: tutti --help. The settings that it finds are modules of their own:
module use FOLDER/modulefiles, where FOLDER has the results of a campaign.]])

conflict("tutti")
prepend_path("PATH", pathJoin(root, "bin"))
