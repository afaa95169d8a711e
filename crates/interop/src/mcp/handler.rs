//! [`Handler`]: what servers may ask of us, and what they are told.
//!
//! They may ask for the folders to work in. They may neither use our model nor ask the person: both would go around
//! the permissions and the budget of the agent.
#![expect(deprecated, reason = "the next version of MCP drops what servers of today still ask for")]

use std::path::{Path, PathBuf};

use rmcp::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams,
    ElicitResult, ErrorCode, ErrorData, Implementation, ListRootsResult, Root, RootsCapabilities,
};
use rmcp::service::{RequestContext, RoleClient};

/// Answers a server.
pub(super) struct Handler {
    pub(super) roots: Vec<PathBuf>,
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        if !self.roots.is_empty() {
            capabilities.roots = Some(RootsCapabilities::default());
        }
        ClientConfig::new(capabilities, Implementation::new("antiphon", env!("CARGO_PKG_VERSION")))
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        if self.roots.is_empty() {
            return Err(unsupported("roots"));
        }
        Ok(ListRootsResult::new(self.roots.iter().map(|root| Root::new(file_url(root))).collect()))
    }

    async fn create_message(
        &self,
        _: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        Err(unsupported("sampling"))
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Err(unsupported("elicitation"))
    }
}

fn unsupported(what: &str) -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("{what} is not supported by this client"), None)
}

fn file_url(path: &Path) -> String {
    let path = path.to_string_lossy();
    let written = path.bytes().map(|byte| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    });
    format!("file://{}", written.collect::<String>())
}
