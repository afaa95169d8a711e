//! [`Tap`]: a transport that looks at what goes by.
//!
//! Progress is handed to the call it belongs to here, before the answer behind it is seen: handlers of the SDK run
//! beside one another, and could not keep that order.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rmcp::RoleClient;
use rmcp::model::{
    GetExtensions, GetMeta, JsonRpcMessage, ProgressNotificationParam, ProgressToken, ServerNotification,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::mpsc;

/// How many requests a server may make before it takes in the answers.
const ASKED_MAX: usize = 64;

/// Where the progress of a call goes; travels with the request.
#[derive(Clone)]
pub(super) struct Route(pub(super) mpsc::Sender<ProgressNotificationParam>);

/// Watches a transport.
pub(super) struct Tap<T> {
    inner: T,
    routes: HashMap<ProgressToken, Route>,
    tools_changed: Arc<AtomicBool>,
    /// How many requests of the server wait for their answer to be sent.
    asked: Arc<AtomicUsize>,
}

impl<T> Tap<T> {
    pub(super) fn new(inner: T, tools_changed: Arc<AtomicBool>) -> Self {
        Self { inner, routes: HashMap::new(), tools_changed, asked: Arc::default() }
    }

    fn register(&mut self, message: &TxJsonRpcMessage<RoleClient>) {
        let JsonRpcMessage::Request(message) = message else {
            return;
        };
        let request = &message.request;
        if let (Some(route), Some(token)) =
            (request.extensions().get::<Route>(), request.get_meta().get_progress_token())
        {
            self.routes.retain(|_, route| !route.0.is_closed());
            self.routes.insert(token, route.clone());
        }
    }

    /// Takes out progress, notices that nobody needs, and requests of a server that does not wait for answers.
    fn look(&mut self, message: RxJsonRpcMessage<RoleClient>) -> Option<RxJsonRpcMessage<RoleClient>> {
        let notice = match &message {
            JsonRpcMessage::Notification(notice) => &notice.notification,
            JsonRpcMessage::Request(_) => {
                let is_taken = self.asked.load(Ordering::Acquire) < ASKED_MAX;
                self.asked.fetch_add(usize::from(is_taken), Ordering::AcqRel);
                return is_taken.then_some(message);
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => return Some(message),
        };
        match notice {
            ServerNotification::ProgressNotification(progress) => {
                if let Some(route) = self.routes.get(&progress.params.progress_token) {
                    // Who cannot keep up misses some: the answer is worth more than how it came about.
                    let _ = route.0.try_send(progress.params.clone());
                }
                None
            }
            ServerNotification::ToolListChangedNotification(_) => {
                self.tools_changed.store(true, Ordering::Release);
                Some(message)
            }
            ServerNotification::CancelledNotification(_) => Some(message),
            _ => None,
        }
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Tap<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.register(&message);
        let answers = matches!(&message, JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_));
        let asked = self.asked.clone();
        let sent = self.inner.send(message);
        async move {
            let sent = sent.await;
            if answers {
                // Greeting answers some that were not counted.
                let _ = asked.fetch_update(Ordering::AcqRel, Ordering::Acquire, |asked| asked.checked_sub(1));
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let message = self.inner.receive().await?;
            if let Some(message) = self.look(message) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}
