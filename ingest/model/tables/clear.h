/* Ends a use of a `.def`: each includer of one defines the lines it needs anew. */
#undef TABLE
#undef COLUMN
#undef ADDED
#undef RATIO
#undef DELTA
#undef ARRAY
#undef ELEMENT
#undef MEMBER
