#include "bytes.h"
#include "tutti.h"

PER_THREAD sized sizes_known[TYPES]; /* no type has handle 0 */

/* Returns whether a type is predefined by MPI, such as MPI_INT, and not created by the application. */
int type_named(MPI_Datatype type)
{
    int integers, addresses, types, combiner;
    PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    return combiner == MPI_COMBINER_NAMED;
}

/* Returns the size of a type in bytes. It caches only the sizes of predefined types. Any other type could be
 * freed, and its handle could be used again. */
size_t type_size(MPI_Datatype type)
{
    MPI_Count size = 0; /* an int ends at 2 GiB */
    if (type == MPI_DATATYPE_NULL)
        return 0;
    PMPI_Type_size_x(type, &size);
    if (type_named(type))
        *sized_of(type) = (sized){type, (size_t)size};
    return (size_t)size;
}

size_t counts_bytes(const void *counts, int wide, int n, MPI_Datatype type)
{
    size_t sum = 0;
    for (int i = 0; i < n; i++) {
        MPI_Count count = wide ? ((const MPI_Count *)counts)[i] : ((const int *)counts)[i];
        sum += (size_t)(count > 0 ? count : 0);
    }
    return sum * bytes_of(1, type);
}
