//! A server that says what it is told to, byte for byte, and keeps what it was asked.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

/// What happens after the last piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The answer ends as it should.
    Close,
    /// The connection is cut.
    Cut,
    /// Nothing, until the other side goes away.
    Hang,
}

/// An answer: its head, or nothing of it, its body in pieces, and what comes then.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) head: String,
    pub(crate) pieces: Vec<Vec<u8>>,
    pub(crate) end: End,
}

impl Reply {
    /// Events that come in these pieces, each read by itself on the other side.
    pub(crate) fn events(pieces: Vec<Vec<u8>>) -> Self {
        Self { head: "200 OK\r\ncontent-type: text/event-stream".to_owned(), pieces, end: End::Close }
    }

    pub(crate) fn text(head: &str, body: &str) -> Self {
        Self { head: head.to_owned(), pieces: vec![body.as_bytes().to_vec()], end: End::Close }
    }

    pub(crate) fn end(mut self, end: End) -> Self {
        self.end = end;
        self
    }
}

/// What the server noticed.
#[derive(Debug)]
pub(crate) enum Seen {
    /// What it was asked: head and body.
    Request(String),
    /// The other side closed the connection while it waited.
    Gone,
}

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) seen: mpsc::UnboundedReceiver<Seen>,
}

impl Server {
    /// Gives each connection the same answer.
    pub(crate) async fn start(reply: Reply) -> Self {
        Self::start_each(move |_| reply.clone()).await
    }

    /// Gives each connection its own answer, by its number.
    pub(crate) async fn start_each(reply: impl Fn(usize) -> Reply + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (tell, seen) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            for number in 0.. {
                let Ok((stream, _)) = listener.accept().await else { return };
                let (reply, tell) = (reply(number), tell.clone());
                // The other side may go away at any moment, which is what some tests are about.
                tokio::spawn(async move { drop(serve(stream, reply, tell).await) });
            }
        });
        Self { address, seen }
    }

    /// What it was asked.
    pub(crate) async fn request(&mut self) -> String {
        match self.seen.recv().await {
            Some(Seen::Request(text)) => text,
            other => panic!("expected a request, saw {other:?}"),
        }
    }
}

/// A server that answers one request after another on each connection; gives back how many connections there were.
pub(crate) async fn start_patient(body: Vec<u8>) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let count = Arc::new(AtomicUsize::new(0));
    let connections = count.clone();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            connections.fetch_add(1, Ordering::Relaxed);
            let body = body.clone();
            tokio::spawn(async move {
                while read_request(&mut stream).await.is_ok() {
                    let head =
                        format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n", body.len());
                    let answer = [head.as_bytes(), &body, b"\r\n"].concat();
                    // The end comes by itself, as it does from many a server.
                    if stream.write_all(&answer).await.is_err()
                        || stream.write_all(b"0\r\n\r\n").await.is_err()
                    {
                        return;
                    }
                }
            });
        }
    });
    (address, count)
}

async fn serve(
    mut stream: TcpStream,
    reply: Reply,
    tell: mpsc::UnboundedSender<Seen>,
) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let request = read_request(&mut stream).await?;
    drop(tell.send(Seen::Request(request)));
    let head = format!("HTTP/1.1 {}\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n", reply.head);
    if !reply.head.is_empty() {
        stream.write_all(head.as_bytes()).await?;
    }
    for piece in reply.pieces.iter().filter(|piece| !piece.is_empty()) {
        let chunk = [format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat();
        stream.write_all(&chunk).await?;
    }
    match reply.end {
        End::Close => stream.write_all(b"0\r\n\r\n").await?,
        End::Cut => {}
        End::Hang => {
            // Reading gives nothing as soon as the other side has gone.
            while stream.read(&mut [0; 64]).await.is_ok_and(|read| read > 0) {}
            drop(tell.send(Seen::Gone));
        }
    }
    stream.shutdown().await
}

async fn read_request(stream: &mut TcpStream) -> std::io::Result<String> {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
            if body.len() >= length.unwrap_or(0) {
                return Ok(text.into_owned());
            }
        }
        let read = stream.read(&mut buffer).await?;
        if read == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        bytes.extend_from_slice(&buffer[..read]);
    }
}
