//! [`Reply`]: an answer that is there, or will be.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::sync::oneshot;

use crate::{Fault, Position};

/// What an append comes to: where the events are, once they are durable.
pub type Ack = Reply<Position>;

/// An answer that is there already, which allocates nothing, or comes from somewhere else.
///
/// A future on any executor. What was asked for is under way when the reply is handed out and happens whether or
/// not it is awaited; dropping the reply drops only the answer.
#[derive(Debug)]
#[must_use = "what was asked for may have failed"]
pub struct Reply<T>(State<T>);

#[derive(Debug)]
enum State<T> {
    /// There, until it is taken.
    Ready(Option<Result<T, Fault>>),
    Waiting(oneshot::Receiver<Result<T, Fault>>),
}

impl<T> Reply<T> {
    /// An answer that is there.
    pub fn ready(answer: Result<T, Fault>) -> Self {
        Self(State::Ready(Some(answer)))
    }

    /// An answer to come, and where to put it. If that is dropped the answer is [`Fault::Closed`].
    pub fn waiting() -> (oneshot::Sender<Result<T, Fault>>, Self) {
        let (sender, receiver) = oneshot::channel();
        (sender, Self(State::Waiting(receiver)))
    }

    /// Waits without an executor.
    ///
    /// # Panics
    /// Within an asynchronous task, where it would hold up others.
    pub fn wait(self) -> Result<T, Fault> {
        match self.0 {
            State::Ready(answer) => answer.expect(TAKEN),
            State::Waiting(receiver) => receiver.blocking_recv().unwrap_or(Err(Fault::Closed)),
        }
    }
}

const TAKEN: &str = "a reply is taken once";

// Nothing in it is ever pinned: the receiver is `Unpin` and the answer is moved out.
impl<T> Unpin for Reply<T> {}

impl<T> Future for Reply<T> {
    type Output = Result<T, Fault>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            State::Ready(answer) => Poll::Ready(answer.take().expect(TAKEN)),
            State::Waiting(receiver) => {
                Pin::new(receiver).poll(context).map(|sent| sent.unwrap_or(Err(Fault::Closed)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;

    fn poll<T>(reply: &mut Reply<T>) -> Poll<Result<T, Fault>> {
        Pin::new(reply).poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn a_reply_is_there_at_once_or_when_it_was_sent() {
        assert_eq!(poll(&mut Reply::ready(Ok(1))), Poll::Ready(Ok(1)));
        let (sender, mut reply) = Reply::waiting();
        assert_eq!(poll(&mut reply), Poll::Pending);
        sender.send(Ok(2)).unwrap();
        assert_eq!(poll(&mut reply), Poll::Ready(Ok(2)));
    }

    #[test]
    fn a_reply_that_nobody_will_send_says_so() {
        let (sender, mut reply) = Reply::<()>::waiting();
        drop(sender);
        assert_eq!(poll(&mut reply), Poll::Ready(Err(Fault::Closed)));
        let (_, reply) = Reply::<()>::waiting();
        assert_eq!(reply.wait(), Err(Fault::Closed));
    }
}
