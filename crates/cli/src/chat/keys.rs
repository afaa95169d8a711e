//! The keyboard: [`Keys`] one by one without Enter.
//!
//! They put the terminal back as it was when they are dropped, whatever happens.

use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::termios::{LocalFlags, SetArg, Termios, tcgetattr, tcsetattr};
use tokio::sync::mpsc;

/// How often it is looked whether keys are still wanted.
const LOOK: Duration = Duration::from_millis(50);

/// A key, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    /// A character.
    Letter(char),
    /// Enter.
    Enter,
    /// Tab.
    Tab,
    /// Backspace.
    Back,
    /// Ctrl-U.
    Wipe,
    /// Ctrl-C, Ctrl-D, or Escape.
    Leave,
}

/// Keys as they are pressed.
pub(super) struct Keys {
    pressed: mpsc::Receiver<Key>,
    is_wanted: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    /// What puts the terminal back.
    _way: Way,
}

/// How the terminal hands keys over while they are listened to.
enum Way {
    /// All of them, Ctrl-C too; what is printed needs both ends of a line.
    Raw,
    /// One by one and unseen; Ctrl-C is a signal, and printing is as usual.
    Quiet(Option<Termios>),
}

impl Way {
    /// Keeps what is typed off the screen, if there is a terminal.
    fn quiet() -> Self {
        let Ok(before) = tcgetattr(io::stdin()) else { return Self::Quiet(None) };
        let mut quiet = before.clone();
        quiet.local_flags.remove(LocalFlags::ECHO | LocalFlags::ICANON);
        let set = tcsetattr(io::stdin(), SetArg::TCSANOW, &quiet);
        Self::Quiet(set.is_ok().then_some(before))
    }
}

impl Drop for Way {
    fn drop(&mut self) {
        // A terminal that is gone needs nothing.
        match self {
            Self::Raw => drop(disable_raw_mode()),
            Self::Quiet(Some(before)) => drop(tcsetattr(io::stdin(), SetArg::TCSANOW, before)),
            Self::Quiet(None) => {}
        }
    }
}

impl Keys {
    /// Listens to the keyboard, to every key; nothing is printed meanwhile.
    pub(super) fn listen() -> io::Result<Self> {
        enable_raw_mode()?;
        Ok(Self::start(Way::Raw))
    }

    /// Listens to what is typed, which does not show; Ctrl-C stays a signal.
    pub(super) fn overhear() -> Self {
        Self::start(Way::quiet())
    }

    fn start(way: Way) -> Self {
        let (sender, pressed) = mpsc::channel(16);
        let is_wanted = Arc::new(AtomicBool::new(true));
        let wanted = Arc::clone(&is_wanted);
        let thread = std::thread::spawn(move || {
            while wanted.load(Ordering::Relaxed) {
                let Ok(key) = next(LOOK) else { break };
                if key.is_some_and(|key| sender.blocking_send(key).is_err()) {
                    break;
                }
            }
        });
        Self { pressed, is_wanted, thread: Some(thread), _way: way }
    }

    /// The next key; none if there is no keyboard any more.
    pub(super) async fn next(&mut self) -> Option<Key> {
        self.pressed.recv().await
    }
}

impl Keys {
    /// Stops listening; what was pressed and not asked for yet.
    pub(super) fn finish(mut self) -> Vec<Key> {
        let mut left = self.stop();
        while let Ok(Some(key)) = next(Duration::ZERO) {
            left.push(key);
        }
        left
    }

    fn stop(&mut self) -> Vec<Key> {
        let mut left = Vec::new();
        self.is_wanted.store(false, Ordering::Relaxed);
        let Some(thread) = self.thread.take() else { return left };
        // The thread may wait for room for a key.
        while !thread.is_finished() {
            left.extend(std::iter::from_fn(|| self.pressed.try_recv().ok()));
            std::thread::sleep(LOOK / 50);
        }
        // A thread that panicked reads no keys either.
        let _ = thread.join();
        left.extend(std::iter::from_fn(|| self.pressed.try_recv().ok()));
        left
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Whether there is something to read within a moment; an error if the terminal is gone, which whoever reads from it
/// would do for ever.
fn is_ready(within: Duration) -> io::Result<bool> {
    let stdin = io::stdin();
    let mut look = [PollFd::new(stdin.as_fd(), PollFlags::POLLIN)];
    let patience = PollTimeout::try_from(within).unwrap_or(PollTimeout::MAX);
    match poll(&mut look, patience) {
        // A signal, such as that of a new size.
        Err(Errno::EINTR) => return Ok(false),
        found => found?,
    };
    let seen = look[0].revents().unwrap_or(PollFlags::empty());
    if seen.intersects(PollFlags::POLLHUP | PollFlags::POLLERR | PollFlags::POLLNVAL) {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the terminal is gone"));
    }
    Ok(seen.contains(PollFlags::POLLIN))
}

/// A key, if one is pressed within a moment.
fn next(within: Duration) -> io::Result<Option<Key>> {
    // More may have been read than one key.
    is_ready(Duration::ZERO)?;
    let has_read = || event::poll(Duration::ZERO);
    if !(has_read()? || is_ready(within)? && has_read()?) {
        return Ok(None);
    }
    let Event::Key(key) = event::read()? else { return Ok(None) };
    if key.kind == KeyEventKind::Release {
        return Ok(None);
    }
    Ok(match key.code {
        KeyCode::Char('c' | 'd') if key.modifiers.contains(KeyModifiers::CONTROL) => Some(Key::Leave),
        KeyCode::Char(c) if !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) => {
            Some(Key::Letter(c))
        }
        KeyCode::Char('u') if key.modifiers.contains(KeyModifiers::CONTROL) => Some(Key::Wipe),
        KeyCode::Enter => Some(Key::Enter),
        KeyCode::Tab => Some(Key::Tab),
        KeyCode::Backspace => Some(Key::Back),
        KeyCode::Esc => Some(Key::Leave),
        _ => None,
    })
}
