#include "workload.h"

#define MAX_ELEMENTS 64 /* of an item: few, so that a message has many items, but enough that gaps are few */

static MPI_Datatype element_type(collective what) { return collective_has(what, REDUCES) ? MPI_FLOAT : MPI_CHAR; }

size_t element_bytes(collective what) { return collective_has(what, REDUCES) ? sizeof(float) : 1; }

/* Returns an item: the group of elements that the MPI type of a rank describes. Blocks have `elements` elements.
 * Without gaps an item is one element. With gaps it has several elements, whose number is a divisor of
 * `elements`. In a reduction all ranks use the same type; otherwise a rank receives with the type of the next
 * rank. item_commit creates the type. */
item item_shape(collective what, form f, int elements, int rank)
{
    item i = {element_type(what), 0, 1, 0, elements};
    int differ = !collective_has(what, REDUCES);
    if (!f.gaps)
        return i;
    i.elements = !f.counts || elements == 0 || rank % 3 == 0 ? MAX_ELEMENTS : rank % 3 == 1 ? elements : 1;
    while (elements % i.elements != 0)
        i.elements--;
    i.count = elements / i.elements;
    i.before = 1 + (differ ? rank % 2 : 0);
    i.after = differ ? rank % 3 : 2;
    return i;
}

size_t item_bytes(const item *i, collective what) { return (size_t)(i->before + i->elements + i->after) * element_bytes(what); }

int item_commit(item *i, collective what)
{
    MPI_Datatype placed;
    MPI_Aint extent = (MPI_Aint)item_bytes(i, what);
    if (i->before + i->elements + i->after == 1)
        return MPI_SUCCESS;
    int error = MPI_Type_indexed(1, &i->elements, &i->before, element_type(what), &placed);
    if (error != MPI_SUCCESS)
        return error;
    error = MPI_Type_create_resized(placed, 0, extent, &i->type);
    MPI_Type_free(&placed);
    return error == MPI_SUCCESS ? MPI_Type_commit(&i->type) : error;
}

void item_free(item *i, collective what)
{
    if (i->type != element_type(what))
        MPI_Type_free(&i->type);
}
