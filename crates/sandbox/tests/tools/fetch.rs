//! `fetch`: pages of a real server, with the ways in which servers misbehave.

use std::io::Write;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use antiphon_event::Provenance;
use antiphon_sandbox::Limits;
use expect_test::{Expect, expect};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::Bench;

/// A server that answers a path with bytes as they stand in a table.
struct Server {
    address: SocketAddr,
    asked: Arc<AtomicUsize>,
}

impl Server {
    async fn start(at: &str) -> Self {
        let listener = TcpListener::bind((at, 0)).await.expect("a free port");
        let address = listener.local_addr().expect("it listens");
        let asked = Arc::new(AtomicUsize::new(0));
        let count = asked.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::Relaxed);
                tokio::spawn(answer(stream));
            }
        });
        Self { address, asked }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

/// Answers one request; a client that goes away is none of its business.
async fn answer(mut stream: TcpStream) -> std::io::Result<()> {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        let mut byte = [0; 1];
        if stream.read(&mut byte).await? == 0 {
            return Ok(());
        }
        request.push(byte[0]);
    }
    let request = String::from_utf8(request).expect("a plain request");
    let target = request.split(' ').nth(1).expect("a target");
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let page = |kind: &str, body: &[u8]| {
        let head =
            format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n", body.len());
        [head.as_bytes(), body].concat()
    };
    let redirect =
        |to: &str| format!("HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n").into_bytes();
    let bytes = match path {
        "/html" => page("text/html; charset=utf-8", "<title>T</title><style>p{}</style><h1>Head</h1><p>One <a href='/x'>two</a>.</p><script>alert(1)</script><table><tr><td>a<td>b</table>".as_bytes()),
        "/json" => page("application/json", br#"{"a": [1, 2]}"#),
        "/text" => page("text/plain", b"plain <b>text</b>"),
        "/untyped" => b"HTTP/1.1 200 OK\r\ncontent-length: 21\r\n\r\n<!DOCTYPE html><p>yes".to_vec(),
        "/latin" => page("text/html; charset=\"iso-8859-1\"", b"caf\xe9"),
        "/meta" => page("text/html", b"<meta charset='windows-1252'>\x84caf\xe9\x93"),
        "/utf16" => page("text/plain", b"\xff\xfeh\0i\0"),
        "/broken" => page("text/plain", b"caf\xe9"),
        "/image" => page("image/png", b"\x89PNG"),
        "/lie" => page("text/plain", b"\x7fELF\0\0"),
        "/packed" => b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\n\x1f\x8b\x08\x01".to_vec(),
        "/missing" => b"HTTP/1.1 404 Not Found\r\ncontent-type: text/plain\r\ncontent-length: 4\r\n\r\ngone".to_vec(),
        "/empty" => b"HTTP/1.1 204 No Content\r\n\r\n".to_vec(),
        "/garbage" => b"\0\0\0 this is no HTTP\r\n\r\n".to_vec(),
        "/short" => b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 100\r\n\r\nonly this".to_vec(),
        "/loop" => redirect("/loop"),
        "/count" => {
            let left: usize = query.parse().expect("a number");
            if left == 0 { page("text/plain", b"arrived") } else { redirect(&format!("/count?{}", left - 1)) }
        }
        "/to" => redirect(query),
        "/nowhere" => redirect("http://[::bad"),
        "/agent" => page("text/plain", request.as_bytes()),
        "/silent" => std::future::pending().await,
        "/slow" | "/endless" => {
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n").await?;
            let (piece, pause) = if path == "/slow" { (1, 20) } else { (64 * 1024, 0) };
            loop {
                stream.write_all(&vec![b'x'; piece]).await?;
                tokio::time::sleep(Duration::from_millis(pause)).await;
            }
        }
        _ => page("text/plain", b"here"),
    };
    stream.write_all(&bytes).await
}

fn bench() -> Bench {
    Bench::new().set(|workspace| workspace.allow_address(IpAddr::from([127, 0, 0, 1])))
}

/// Fetches pages of a server that may be reached, and compares what is said.
async fn check(paths: &[&str], expected: Expect) {
    let server = Server::start("127.0.0.1").await;
    let bench = bench();
    let mut table = Vec::new();
    for path in paths {
        let said = bench.say("fetch", json!({"url": server.url(path)})).await;
        let said = said.replace(&server.address.to_string(), "SERVER");
        let said: String =
            said.lines().map(|line| format!("  {line}").trim_end().to_owned() + "\n").collect();
        table.push(format!("{path}\n{said}"));
    }
    expected.assert_eq(&table.concat());
}

#[tokio::test]
async fn pages_come_as_text() {
    check(
        &[
            "/html", "/json", "/text", "/untyped", "/latin", "/meta", "/utf16", "/broken", "/missing",
            "/empty",
        ],
        expect![[r#"
            /html
              http://SERVER/html
              200 OK

              # Head

              One [two][1].

              a b

              [1]: /x
            /json
              http://SERVER/json
              200 OK

              {"a": [1, 2]}
            /text
              http://SERVER/text
              200 OK

              plain <b>text</b>
            /untyped
              http://SERVER/untyped
              200 OK

              yes
            /latin
              http://SERVER/latin
              200 OK

              café
            /meta
              http://SERVER/meta
              200 OK

              „café“
            /utf16
              http://SERVER/utf16
              200 OK

              hi
            /broken
              http://SERVER/broken
              200 OK

              caf�
            /missing
              http://SERVER/missing
              404 Not Found

              gone
            /empty
              http://SERVER/empty
              204 No Content

        "#]],
    )
    .await;
}

#[tokio::test]
async fn what_is_no_text_is_refused() {
    check(&["/image", "/lie", "/packed", "/garbage", "/short"], expect![[r#"
        /image
          failed: `http://SERVER/image` (200 OK) is image/png: only text is given
        /lie
          failed: `http://SERVER/lie` (200 OK) is text/plain: only text is given
        /packed
          failed: `http://SERVER/packed` (200 OK) is packed as gzip, which was not asked for: only text is given
        /garbage
          failed: cannot fetch `http://SERVER/garbage`: invalid HTTP version parsed
        /short
          failed: cannot fetch `http://SERVER/short`: end of file before message length reached
    "#]]).await;
}

#[tokio::test]
async fn redirects_are_followed_within_a_host() {
    check(
        &[
            "/count?5",
            "/count?6",
            "/loop",
            "/nowhere",
            "/to?http://127.0.0.1:1/x",
            "/to?https://example.org/",
            "/to?file:///etc/passwd",
        ],
        expect![[r#"
            /count?5
              http://SERVER/count?0
              200 OK

              arrived
            /count?6
              failed: `http://SERVER/count?0` is the end of more than 5 redirects
            /loop
              failed: `http://SERVER/loop` is the end of more than 5 redirects
            /nowhere
              failed: `http://SERVER/nowhere` redirects to `http://[::bad`, which is no address
            /to?http://127.0.0.1:1/x
              http://SERVER/to?http://127.0.0.1:1/x
              redirects to http://127.0.0.1:1/x
              That is another host: fetch it if you want to go there.
            /to?https://example.org/
              http://SERVER/to?https://example.org/
              redirects to https://example.org/
              That is another host: fetch it if you want to go there.
            /to?file:///etc/passwd
              failed: `file:///etc/passwd` is neither http nor https
        "#]],
    )
    .await;
}

#[tokio::test]
async fn what_is_said_comes_from_the_web() {
    let server = Server::start("127.0.0.1").await;
    let reply = bench().call("fetch", json!({"url": server.url("/text")})).await.unwrap();
    assert_eq!(reply.provenance, Some(Provenance::Web));
}

#[tokio::test]
async fn addresses_that_are_not_public_are_not_reached() {
    let closed = Server::start("127.0.0.1").await;
    let open = Server::start("127.0.0.2").await;
    let bench = Bench::new().set(|workspace| workspace.allow_address(IpAddr::from([127, 0, 0, 2])));
    let port = closed.address.port();
    let rows = [
        format!("http://127.0.0.1:{port}/"),
        format!("http://localhost:{port}/"),
        format!("http://2130706433:{port}/"),
        format!("http://0x7f.1:{port}/"),
        format!("http://[::1]:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        format!("http://0.0.0.0:{port}/"),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
        "http://10.0.0.1/".to_owned(),
        "ftp://127.0.0.1/".to_owned(),
        "file:///etc/passwd".to_owned(),
        "http://me:secret@127.0.0.2/".to_owned(),
        "nonsense".to_owned(),
    ];
    let mut table = String::new();
    for url in &rows {
        let said = bench.say("fetch", json!({"url": url})).await;
        table += &format!("{said}\n").replace(&port.to_string(), "PORT").replace("at ::1,", "at 127.0.0.1,");
    }
    expect![[r#"
        failed: `http://127.0.0.1:PORT/`: 127.0.0.1 is not a public address and may not be reached
        failed: cannot fetch `http://localhost:PORT/`: 127.0.0.1 is not a public address and may not be reached
        failed: `http://127.0.0.1:PORT/`: 127.0.0.1 is not a public address and may not be reached
        failed: `http://127.0.0.1:PORT/`: 127.0.0.1 is not a public address and may not be reached
        failed: `http://[::1]:PORT/`: ::1 is not a public address and may not be reached
        failed: `http://[::ffff:7f00:1]:PORT/`: ::ffff:127.0.0.1 is not a public address and may not be reached
        failed: `http://0.0.0.0:PORT/`: 0.0.0.0 is not a public address and may not be reached
        failed: `http://169.254.169.254/latest/meta-data/`: 169.254.169.254 is not a public address and may not be reached
        failed: `http://10.0.0.1/`: 10.0.0.1 is not a public address and may not be reached
        failed: `ftp://127.0.0.1/` is neither http nor https
        failed: `file:///etc/passwd` is neither http nor https
        failed: an address with a name or a password in it is not fetched
        failed: `nonsense` is no address: relative URL without a base
    "#]].assert_eq(&table);
    let said = bench.say("fetch", json!({"url": open.url(&format!("/to?{}", closed.url("/secret")))})).await;
    assert!(said.ends_with("127.0.0.1 is not a public address and may not be reached"), "{said}");
    assert_eq!(open.asked.load(Ordering::Relaxed), 1);
    assert_eq!(closed.asked.load(Ordering::Relaxed), 0, "nobody even knocked");
    let everywhere = Bench::new().set(|workspace| workspace.allow_private_addresses());
    let url = format!("http://localhost:{port}/");
    let said = everywhere.say("fetch", json!({"url": url})).await;
    assert!(said.ends_with("here"), "{said}");
}

#[tokio::test]
async fn what_has_no_end_is_cut() {
    let server = Server::start("127.0.0.1").await;
    let limits = Limits { fetch_bytes: 1 << 20, ..Limits::default() };
    let bench = bench().set(|workspace| workspace.limits(limits));
    let said = bench.say("fetch", json!({"url": server.url("/endless")})).await;
    assert!(said.len() < 30_000);
    assert!(
        said.ends_with(
            "x\n… (the first 28000 of 1048576 characters)\n… (only the first 1048576 bytes were read)"
        ),
        "{}",
        &said[said.len() - 100..]
    );
    let said = bench.say("fetch", json!({"url": server.url("/text"), "max_chars": 5})).await;
    assert!(said.ends_with("\n\nplain\n… (the first 5 of 17 characters)"), "{said}");
}

#[tokio::test]
async fn what_takes_too_long_is_given_up() {
    let server = Server::start("127.0.0.1").await;
    let limits = Limits { fetch_time: Duration::from_millis(300), ..Limits::default() };
    let bench = bench().set(|workspace| workspace.limits(limits));
    for path in ["/slow", "/silent"] {
        let url = server.url(path);
        let begun = Instant::now();
        let said = bench.say("fetch", json!({"url": url})).await;
        assert_eq!(said, format!("timeout: `{url}` took longer than 300 ms"));
        assert!(begun.elapsed() < Duration::from_secs(3));
    }
}

#[tokio::test]
async fn html_that_goes_very_deep_is_still_read() {
    let rows: [(&str, &str, usize); 6] = [
        ("<div>", "</div>", 400_000),
        ("<b><div>", "</b>", 200_000),
        ("<table><tr><td>", "", 900),
        ("<ul><li>", "", 900),
        ("<blockquote>", "", 900),
        ("<a><b><i><u>", "", 20_000),
    ];
    for (open, close, times) in rows {
        let mut body = Vec::new();
        write!(body, "{}deep{}", open.repeat(times), close.repeat(times)).unwrap();
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 4096];
            let _ = stream.read(&mut request).await;
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            let _ = stream.write_all(&[head.as_bytes(), &body].concat()).await;
        });
        let begun = Instant::now();
        let said = bench().say("fetch", json!({"url": url})).await;
        assert!(said.contains("deep"), "{open}: {}", &said[..said.len().min(300)]);
        assert!(begun.elapsed() < Duration::from_secs(20), "{open} took {:?}", begun.elapsed());
    }
}
