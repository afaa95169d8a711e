//! Other protocols: MCP servers, whose tools agents may call.
