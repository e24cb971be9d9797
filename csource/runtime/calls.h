/* The arguments of a collective, as EACH_COLLECTIVE has them, in the forms that functions need. */
#ifndef TUTTI_CALLS_H
#define TUTTI_CALLS_H

/* Applies X to each of up to nine arguments, with commas between the results. */
#define LIST(X, arguments) LIST_OF(X, OPEN arguments)
#define OPEN(...) __VA_ARGS__
#define LIST_OF(X, ...) TENTH(__VA_ARGS__, LIST_9, LIST_8, LIST_7, LIST_6, LIST_5, LIST_4, LIST_3, LIST_2, LIST_1, )(X, __VA_ARGS__)
#define TENTH(a, b, c, d, e, f, g, h, i, tenth, ...) tenth
#define LIST_1(X, a) X(a)
#define LIST_2(X, a, ...) X(a), LIST_1(X, __VA_ARGS__)
#define LIST_3(X, a, ...) X(a), LIST_2(X, __VA_ARGS__)
#define LIST_4(X, a, ...) X(a), LIST_3(X, __VA_ARGS__)
#define LIST_5(X, a, ...) X(a), LIST_4(X, __VA_ARGS__)
#define LIST_6(X, a, ...) X(a), LIST_5(X, __VA_ARGS__)
#define LIST_7(X, a, ...) X(a), LIST_6(X, __VA_ARGS__)
#define LIST_8(X, a, ...) X(a), LIST_7(X, __VA_ARGS__)
#define LIST_9(X, a, ...) X(a), LIST_8(X, __VA_ARGS__)

/* The parameter of a function in C. COUNT and PLACE are the types of counts and of displacements. */
#define PARAMETER(name) PARAMETER_##name
#define PARAMETER_send const void *send
#define PARAMETER_scount COUNT scount
#define PARAMETER_scounts const COUNT scounts[]
#define PARAMETER_sdispls const PLACE sdispls[]
#define PARAMETER_stype MPI_Datatype stype
#define PARAMETER_recv void *recv
#define PARAMETER_rcount COUNT rcount
#define PARAMETER_rcounts const COUNT rcounts[]
#define PARAMETER_rdispls const PLACE rdispls[]
#define PARAMETER_rtype MPI_Datatype rtype
#define PARAMETER_op MPI_Op op
#define PARAMETER_root int root
#define PARAMETER_on MPI_Comm on

/* The initializer of the field of `arguments` (serve.h). */
#define FIELD(name) .name = name

#endif
