import Testing

@testable import HearthFunctions

private struct Message: Codable, Equatable {
    var text: String
    var likes: Int?
}

private func textOrRefusal(_ place: DatabaseReference) async -> String {
    do throws(DatabaseError) { return try await place.getData(as: Message.self).text } catch { return error.description }
}

extension SDK {
    @Suite struct DatabaseReading {
        private func read<T: Sendable & Encodable>(
            _ answer: String, isOK: Bool = true, body: @escaping @Sendable (CallableRequest<JSONValue>) async throws -> T
        ) throws -> (calls: [String], answer: FakeHost.Answer?) {
            let host = try #require(FakeHost(Functions { OnCall("f", body) }))
            host.serviceAnswer = (isOK, answer)
            let answer = host.call("f")
            return (host.serviceCalls, answer)
        }

        @Test func typedValuesAreReadFromTheAnswer() throws {
            let (calls, answer) = try read(#"{"value":{"m1":{"text":"a","likes":3},"m2":{"text":"b"}}}"#) { _ in
                let messages = try await database.reference("messages").getData(as: [String: Message].self)
                #expect(messages == ["m1": Message(text: "a", likes: 3), "m2": Message(text: "b", likes: nil)])
                return messages.count
            }
            #expect(answer == .result("2"))
            #expect(calls == [#"1 database.get {"path":"/messages","form":"value"}"#])
        }

        @Test func whatIsNotThereOrNotOfTheTypeIsSaid() throws {
            let nothing = try read(#"{"value":null}"#) { _ in
                let none = try await database.reference("a").getData(as: String?.self)
                #expect(none == nil)
                do throws(DatabaseError) { return try await database.reference("a").getData(as: String.self) } catch { return error.description }
            }
            #expect(nothing.answer == .result(#""not-found at /a: There is no value.""#))
            let other = try read(#"{"value":{"text":5}}"#) { _ in
                return await textOrRefusal(database.reference("a"))
            }
            #expect(other.answer?.body.hasPrefix(#""type-mismatch at /a: The value.text must be text, and is "#) == true)
            let missing = try read(#"{"value":{}}"#) { _ in
                return await textOrRefusal(database.reference("a"))
            }
            #expect(missing.answer == .result(#""type-mismatch at /a: The value.text is missing.""#))
        }

        @Test func queriesReachTheServiceWhole() throws {
            let (calls, _) = try read(#"{"value":null}"#) { _ in
                let place = database.reference("m")
                _ = try await place.queryOrdered(byChild: "a//b").queryStarting(atValue: 1).queryEnding(beforeValue: 2).getData()
                _ = try await place.queryOrderedByKey().queryEqual(toValue: "k").queryLimited(toLast: 2).getData()
                _ = try await place.queryOrderedByValue().queryStarting(afterValue: nil, childKey: "x").getData(as: Int?.self)
                _ = try await place.queryOrderedByPriority().queryEnding(atValue: "p", childKey: "k").getData()
                return try await place.queryLimited(toFirst: 1).getData().exists()
            }
            #expect(
                calls == [
                    #"1 database.get {"path":"/m","form":"export","query":{"orderBy":"a/b","startAt":{"value":1},"endBefore":{"value":2}}}"#,
                    #"1 database.get {"path":"/m","form":"export","query":{"orderBy":"$key","startAt":{"value":"k"},"endAt":{"value":"k"},"#
                        + #""limitToLast":2}}"#,
                    #"1 database.get {"path":"/m","form":"value","query":{"orderBy":"$value","startAfter":{"value":null,"key":"x"}}}"#,
                    #"1 database.get {"path":"/m","form":"export","query":{"orderBy":"$priority","endAt":{"value":"p","key":"k"}}}"#,
                    #"1 database.get {"path":"/m","form":"export","query":{"orderBy":"$priority","limitToFirst":1}}"#,
                ])
        }

        @Test(arguments: [
            database.reference().queryOrderedByKey().queryOrderedByValue(),
            database.reference().queryStarting(atValue: 1).queryEqual(toValue: 1),
            database.reference().queryEnding(atValue: 1).queryEnding(beforeValue: 2),
            database.reference().queryLimited(toFirst: 1).queryLimited(toLast: 1),
            database.reference().queryLimited(toFirst: 0),
        ])
        func aQueryThatContradictsItselfIsRefused(_ query: DatabaseQuery) throws {
            let (calls, answer) = try read("null") { _ in
                do throws(DatabaseError) { return try await query.getData().exists() } catch { return error.code != .invalidArgument }
            }
            #expect(calls.isEmpty && answer == .result("false"))
        }

        @Test func snapshotsKeepTheOrderOfTheirQuery() throws {
            let json = #"{"value":{"a":{"n":3},"b":{"n":"x"},"10":{"n":1},"9":{"n":1},"c":{},"d":{"n":true},"e":{"n":{"o":1}},"f":{"n":false}}}"#
            let (_, answer) = try read(json) { _ in
                let byChild = try await database.reference("m").queryOrdered(byChild: "n").getData().children.compactMap(\.key)
                let byKey = try await database.reference("m").queryOrderedByKey().getData().children.compactMap(\.key)
                return [byChild.joined(), byKey.joined()]
            }
            #expect(answer == .result(#"["cfd910abe","910abcdef"]"#))
        }
    }

    @Suite struct Snapshots {
        private func snapshot(_ json: String) throws -> DataSnapshot {
            DataSnapshot(database.reference("a/b"), exported: try JSONValue(parsing: json))
        }

        @Test func valuesAreThoseThatClientsShow() throws {
            for (exported, plain) in [
                ("null", "null"), ("{}", "null"), ("5", "5"), (#"{".value":5,".priority":1}"#, "5"), (#"{"0":"a","1":"b"}"#, #"["a","b"]"#),
                (#"{"0":"a","2":"c"}"#, #"["a",null,"c"]"#), (#"{"1":"b"}"#, #"[null,"b"]"#), (#"{"2":"c"}"#, #"{"2":"c"}"#),
                (#"{"01":"a"}"#, #"{"01":"a"}"#), (#"{"x":{"0":1,".priority":"p"},"y":1}"#, #"{"x":[1],"y":1}"#),
            ] {
                #expect(try snapshot(exported).value.description == plain)
            }
        }

        @Test func prioritiesAreKeptBesideTheValues() throws {
            let snapshot = try snapshot(#"{"a":{".value":1,".priority":2},"b":{"c":true,".priority":1},"d":0,".priority":"top"}"#)
            #expect(snapshot.priority == "top")
            #expect(snapshot.childSnapshot(forPath: "a").priority == 2 && snapshot.childSnapshot(forPath: "a").value == 1)
            #expect(snapshot.childSnapshot(forPath: "b/c").priority == nil && snapshot.childSnapshot(forPath: "b").hasChild("c"))
            #expect(snapshot.children.map(\.key) == ["d", "b", "a"])
        }

        @Test func childrenAreFound() throws {
            let snapshot = try snapshot(#"{"list":{"0":"x","2":"z"},"m":{"k":{"text":"hi"}}}"#)
            #expect(snapshot.key == "b" && snapshot.ref.path == "/a/b" && snapshot.exists() && snapshot.hasChildren())
            let list = snapshot.childSnapshot(forPath: "list")
            #expect(list.childrenCount == 2 && list.children.map(\.key) == ["0", "2"] && list.children.last?.value == "z")
            #expect(list.childSnapshot(forPath: "02").exists() == false && list.childSnapshot(forPath: "1").exists() == false)
            let text = snapshot.childSnapshot(forPath: "/m/k/text/")
            #expect(text.value == "hi" && text.ref.path == "/a/b/m/k/text" && !text.hasChildren() && text.children.isEmpty)
            #expect(snapshot.childSnapshot(forPath: "m/k/text/deeper").exists() == false)
            #expect(try snapshot.childSnapshot(forPath: "m/k").data(as: Message.self) == Message(text: "hi", likes: nil))
            #expect(throws: DatabaseError.self) { try snapshot.childSnapshot(forPath: "none").data(as: Message.self) }
            #expect(try snapshot.childSnapshot(forPath: "none").data(as: Message?.self) == nil)
        }
    }
}
