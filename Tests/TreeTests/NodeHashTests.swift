import Crypto
import Foundation
import Testing
import Tree

@Suite struct NodeHashTests {
    @Test(arguments: [
        ("true", "E5z61QM0lN/U2WsOnusszCTkR8M="), ("false", "aSSNoqcS4oQwJ2xxH20rvpp3zP0="), ("0", "7ysMph9WPitGP7poMnMHMVPtUlI="),
        ("-0", "m/gA365Q5OBo06Bg8wdybAAiMSQ="), ("1", "YPVfR2bXt/lcDjiQZ8pOkAd3qkQ="), ("1.5", "4MftviR9Z/2MQCMkjh2RNbvlLJc="),
        ("-1", "dMw8oUBNk57KCeIcgAKXVS2BfB0="), (#""""#, "Ki0Xy0V6morg0TO3Sxi/jwugYDQ="), (#""a""#, "eMfSk0nU+CieTkCbO5r7cKNp7qU="),
        (#""héllo 😀""#, "MZCaOH9EHanAUwcEGYCcc1Gz+d4="), ("500", "Ajg9bohDwTVmqR14o1bVJnneryM="),
        (#""Hello World""#, "B8HWXc7zXMjrsnJxPRj7wrNGqt4="), (#"{"foo":"bar"}"#, "XnLeTeWQmzTHImTbSMDLg/qMrKY="),
        (#"{"a":1}"#, "gIphxiFGusLh2VwSNVKSvNu90m4="), (#"{"a":1,"b":2}"#, "AUZnXhNqrfbznYVxcCvNpzpjvTU="),
        (#"{"9":"y","10":"x","a":"z"}"#, "zbq+Ql275FizHIY4HsJitm5G780="), (#"{".value":"x",".priority":1}"#, "DyYUenjbovmkXiggnw4KsXFS+eA="),
        (#"{".value":5,".priority":"p"}"#, "1yRMp++ZQJ76tYxdoS+aJTHGjUM="),
        (#"{"a":{".value":1,".priority":2},"b":{".value":2,".priority":1}}"#, "/3lk7Vfl5OYG6Kw2SkiPXNeExPw="),
        (#"{"a":1,".priority":7}"#, "f5Bfu6f66znP4CPZ7csMl140inw="), ("[1,2]", "fOnL2UowZBFe3bI9YA5uUzua3N8="), ("null", ""),
    ])
    func hashesAreThoseOfTheClients(_ text: String, _ hash: String) throws {
        let node = try Node.reading(text)
        #expect(node.hash() == hash)
        #expect(node.etag.text == (hash.isEmpty ? "null_etag" : hash))
    }

    @Test func theOrderOfABodyDoesNotMatter() throws {
        #expect(try Node.reading(#"{"b":2,"a":1}"#).etag == Node.reading(#"{"a":1,"b":2}"#).etag)
    }

    /// Children without a priority come first, then numbers, then strings; within one priority by key.
    @Test func childrenCountInTheOrderOfTheirPriorities() throws {
        let node = try Node.reading(
            #"{"1":{".value":1,".priority":"s"},"2":{".value":1,".priority":9},"3":1,"4":{".value":1,".priority":9},"5":1}"#)
        var hasher = NodeHasher(priority: nil)
        // Told in another order, but without priorities, the text that is hashed is the same.
        for key in ["3", "5", "2", "4", "1"] {
            let child = node.child(key)
            hasher.add(key, priority: nil, hash: try #require(child.hashes()))
        }
        let hash = hasher.finish()?.hash.string
        #expect(hash == node.hash())
    }

    /// The texts that are hashed, at each level in the order of the priorities or, where every child has one, of the keys.
    private func text(_ node: Node, byKey: Bool) throws -> String {
        var children = Array(node.children)
        let isRanked = children.allSatisfy { $0.node.priority != nil }
        if !(byKey && isRanked) { children.sort { IndexValue($0.node.priority) < IndexValue($1.node.priority) } }
        return try children.map { ":\($0.key):\(try hash($0.node, byKey: byKey))" }.joined()
    }

    private func hash(_ node: Node, byKey: Bool) throws -> String {
        if let leaf = node.leaf { return NodeHash(of: leaf, priority: node.priority).string }
        let priority = switch node.priority {
        case nil: ""
        case .string(let text): "priority:string:\(text):"
        case .number(let number): "priority:number:" + String(format: "%016lx", number.bitPattern) + ":"
        }
        let text = Array((priority + (try text(node, byKey: byKey))).utf8)
        return Data(Insecure.SHA1.hash(data: text)).base64EncodedString()
    }

    /// Clients for iOS hash children by key where each of them has a priority.
    @Test(arguments: [
        #"{"a":{".value":1,".priority":2},"b":{".value":2,".priority":1}}"#,
        #"{"a":{".value":1,".priority":1},"b":{".value":2,".priority":2}}"#,
        #"{"a":{".value":1,".priority":2},"b":{".value":2,".priority":1},"c":3}"#,
        #"{"z":{"a":{".value":1,".priority":"y"},"b":{".value":2,".priority":"x"}},"y":4}"#,
        #"{"z":{".priority":7,"a":{".value":1,".priority":"y"},"b":{".value":2,".priority":"x"}},"y":4,"a":{".value":1,".priority":2}}"#,
        #"{"z":{".priority":7,"a":{".value":1,".priority":2},"b":{".value":2,".priority":1}},"y":{".value":1,".priority":9},".priority":3}"#,
    ])
    func hashesByKeyAreAccepted(_ json: String) throws {
        let node = try Node.reading(json)
        let usual = try hash(node, byKey: false), other = try hash(node, byKey: true)
        #expect(node.etag == EntityTag(usual, byKey: other == usual ? nil : other))
        #expect(node.etag.matches(usual) && node.etag.matches(other) && !node.etag.matches("x"))
    }

    @Test func manyChildrenAreHashedInPieces() throws {
        let children = (0..<1000).map { Node.Child(key: String($0), node: Node(.integer(Int64($0)))) }
        let node = Node(sorted: children)
        var hasher = NodeHasher(priority: nil)
        var isEmpty = hasher.isEmpty
        #expect(isEmpty)
        for child in children { hasher.add(Array(child.key.utf8).span, priority: nil, hash: try #require(child.node.hashes())) }
        isEmpty = hasher.isEmpty
        let hash = hasher.finish()?.hash.string
        #expect(!isEmpty && hash == node.hash() && hash?.utf8.count == 28)
        let nothing = NodeHasher(priority: .number(1))
        let none = nothing.finish()?.hash.string
        #expect(none == nil)
    }
}
