//! The seeker: the one thread that looks for those that left their group.
//!
//! A look takes time, as it goes through all processes, and whoever lets go of a program may be a task that must not
//! be held up, or a runtime that is torn down. So the looks have a thread of their own, which needs no runtime. All
//! that were asked for while it was busy become one. Start reading at [`find`].

use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, SendError, Sender, channel};
use std::thread;

use tokio::sync::oneshot;

use crate::look::{self, Wanted};

/// What the thread is asked for.
enum Asked {
    Find(Wanted),
    /// To let this go when all is found that was asked for before.
    Tell(oneshot::Sender<()>),
}

/// The way to the thread, which begins with the first that is looked for.
static SEEKER: OnceLock<Sender<Asked>> = OnceLock::new();

/// Has all processes with a mark killed, soon.
pub(crate) fn find(wanted: Wanted) {
    if let Err(SendError(asked)) = SEEKER.get_or_init(start).send(Asked::Find(wanted)) {
        // There is no thread to be had.
        serve(vec![asked]);
    }
}

/// Waits until all that were killed before, also by being dropped, have nobody left of those that left their group.
/// To be waited for before a program ends, as looking ends with it. Costs nothing where nobody was looked for.
pub async fn settled() {
    let Some(seeker) = SEEKER.get() else { return };
    let (tell, told) = oneshot::channel();
    // If there is no thread, whoever was to be found is.
    let _ = seeker.send(Asked::Tell(tell));
    let _ = told.await;
}

fn start() -> Sender<Asked> {
    // It holds no more than there are programs at a time, and whoever lets go of one must not be held up.
    let (sender, asked) = channel();
    // Without a thread the other end is gone, and `find` notices.
    let _ = thread::Builder::new().name("antiphon-seeker".to_owned()).spawn(move || seek(&asked));
    sender
}

fn seek(asked: &Receiver<Asked>) {
    while let Ok(first) = asked.recv() {
        serve(std::iter::once(first).chain(asked.try_iter()).collect());
    }
}

/// Does all that was asked for at once.
fn serve(asked: Vec<Asked>) {
    let (mut wanted, mut waiting) = (Vec::new(), Vec::new());
    for asked in asked {
        match asked {
            Asked::Find(who) => wanted.push(who),
            Asked::Tell(tell) => waiting.push(tell),
        }
    }
    if !wanted.is_empty() {
        look::kill_all(&wanted);
    }
    drop(waiting);
}
