/* What describes each kind, for describe.h. A kind that is an enumeration is described where its
 * table is: IS_<KIND> with .kind = TABLE_WORD, .word and .last; STORED_<KIND>, what its column of
 * an SQL table is called, if it has one. */
#ifndef KS_MODEL_TABLES_KINDS_H
#define KS_MODEL_TABLES_KINDS_H

#define IS_INT .kind = TABLE_INT
#define IS_INT_OR_NULL .kind = TABLE_INT_OR_NULL
#define IS_SIZE .kind = TABLE_SIZE
#define IS_FLAG .kind = TABLE_FLAG
#define IS_BITS .kind = TABLE_BITS
#define IS_REAL .kind = TABLE_REAL
#define IS_REAL_OR_NULL .kind = TABLE_REAL_OR_NULL
#define IS_NUMBER .kind = TABLE_NUMBER
#define IS_TEXT .kind = TABLE_TEXT
#define IS_TEXT_OR_NULL .kind = TABLE_TEXT
#define IS_SHARED .kind = TABLE_SHARED
#define IS_SHARED_OR_NULL .kind = TABLE_SHARED
#define IS_MAYBE .kind = TABLE_MAYBE
#define IS_ADDRESS .kind = TABLE_ADDRESS
#define IS_WIDE .kind = TABLE_WIDE
#define IS_JSON .kind = TABLE_JSON
#define IS_SHARED_4 .kind = TABLE_SHARED_4

#define STORED_INT(field) #field
#define STORED_INT_OR_NULL(field) #field
#define STORED_SIZE(field) #field
#define STORED_FLAG(field) #field
#define STORED_BITS(field) #field
#define STORED_REAL(field) #field
#define STORED_REAL_OR_NULL(field) #field
#define STORED_TEXT(field) #field
#define STORED_TEXT_OR_NULL(field) #field
#define STORED_SHARED(field) #field "_id"

#endif
