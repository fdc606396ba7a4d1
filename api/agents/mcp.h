/* The Model Context Protocol at /mcp, over streamable HTTP: one JSON-RPC message a POST, answered
 * as JSON. No sessions, no streams, nothing that writes. */
#ifndef KS_API_AGENTS_MCP_H
#define KS_API_AGENTS_MCP_H

#include "api/call.h"

/* api.c calls it by name, not through the table of routes: tools call handlers of that table, and
 * no handler may reach itself. */
bool agents_mcp(struct api_call *call, struct err *err) KS_MUST_USE;

#endif
