//! Which addresses belong to everybody: not this machine, not its network, not what a cloud tells its machines.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::workspace::Reach;

/// Networks of version 4 that nobody outside may be, with how many bits of each count.
const CLOSED_V4: [([u8; 4], u32); 17] = [
    ([0, 0, 0, 0], 8),
    ([10, 0, 0, 0], 8),
    ([100, 64, 0, 0], 10),
    ([127, 0, 0, 0], 8),
    // Where one cloud answers its machines.
    ([168, 63, 129, 16], 32),
    ([169, 254, 0, 0], 16),
    ([172, 16, 0, 0], 12),
    ([192, 0, 0, 0], 24),
    ([192, 0, 2, 0], 24),
    ([192, 31, 196, 0], 24),
    ([192, 88, 99, 0], 24),
    ([192, 168, 0, 0], 16),
    ([198, 18, 0, 0], 15),
    ([198, 51, 100, 0], 24),
    ([203, 0, 113, 0], 24),
    ([224, 0, 0, 0], 4),
    ([240, 0, 0, 0], 4),
];

/// Networks of version 6 within the public eighth that are not public.
const CLOSED_V6: [([u16; 3], u32); 4] =
    [([0x2001, 0, 0], 23), ([0x2001, 0xdb8, 0], 32), ([0x2620, 0x4f, 0x8000], 48), ([0x3fff, 0, 0], 20)];

/// Whether an address may be reached.
pub(super) fn is_open(address: IpAddr, reach: &Reach) -> bool {
    reach.everywhere || reach.addresses.contains(&address) || is_public(address)
}

fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let bits = address.to_bits();
    !CLOSED_V4.iter().any(|(network, length)| (bits ^ u32::from_be_bytes(*network)) >> (32 - length) == 0)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let inside =
        |high: u16, low: u16| is_public_v4(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)));
    match address.segments() {
        // An address of version 4 in another dress is judged as what it is.
        [0, 0, 0, 0, 0, 0xffff, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..] => inside(high, low),
        [first, ..] => {
            let is_in = |([one, two, three], length): &([u16; 3], u32)| {
                let network = Ipv6Addr::new(*one, *two, *three, 0, 0, 0, 0, 0);
                (address.to_bits() ^ network.to_bits()) >> (128 - length) == 0
            };
            first & 0xe000 == 0x2000 && !CLOSED_V6.iter().any(is_in)
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::is_public;

    #[test]
    fn only_what_belongs_to_everybody_is_public() {
        let rows = [
            "1.1.1.1",
            "8.8.8.8",
            "93.184.216.34",
            "0.0.0.0",
            "10.0.0.1",
            "11.0.0.1",
            "100.63.255.255",
            "100.64.0.1",
            "100.100.100.200",
            "127.0.0.1",
            "127.255.255.255",
            "128.0.0.1",
            "168.63.129.16",
            "168.63.129.17",
            "169.254.169.254",
            "172.15.255.255",
            "172.16.0.1",
            "172.31.255.255",
            "172.32.0.1",
            "192.0.0.192",
            "192.168.1.1",
            "198.17.255.255",
            "198.19.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "64:ff9b::10.0.0.1",
            "64:ff9b::8.8.8.8",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:db8::1",
            "2001:4860:4860::8888",
            "2002:7f00:1::",
            "2002:808:808::",
            "2606:4700::1111",
            "3fff::1",
            "5f00::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ];
        let (public, closed): (Vec<&str>, Vec<&str>) =
            rows.iter().partition(|row| is_public(row.parse().expect("an address")));
        expect![[r#"
            public: 1.1.1.1 8.8.8.8 93.184.216.34 11.0.0.1 100.63.255.255 128.0.0.1 168.63.129.17 172.15.255.255 172.32.0.1 198.17.255.255 ::ffff:8.8.8.8 64:ff9b::8.8.8.8 2001:4860:4860::8888 2002:808:808:: 2606:4700::1111
            closed: 0.0.0.0 10.0.0.1 100.64.0.1 100.100.100.200 127.0.0.1 127.255.255.255 168.63.129.16 169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.192 192.168.1.1 198.19.0.1 224.0.0.1 255.255.255.255 :: ::1 ::127.0.0.1 ::ffff:127.0.0.1 64:ff9b::10.0.0.1 64:ff9b:1::1 100::1 2001::1 2001:db8::1 2002:7f00:1:: 3fff::1 5f00::1 fc00::1 fd00:ec2::254 fe80::1 fec0::1 ff02::1
        "#]].assert_eq(&format!("public: {}\nclosed: {}\n", public.join(" "), closed.join(" ")));
    }
}
