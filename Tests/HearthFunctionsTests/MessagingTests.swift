import HearthJSON
import Testing

@testable import HearthFunctions

extension SDK {
    /// Calls of functions to the host's messaging service, and their handling of its answers.
    @Suite struct MessagingCalls {
        private func asked(
            _ answers: (isOK: Bool, body: String)..., body: @escaping @Sendable (CallableRequest<JSONValue>) async throws -> JSONValue
        ) throws -> (calls: [String], answer: FakeHost.Answer?) {
            let host = try #require(FakeHost(Functions { OnCall("f", body) }))
            host.serviceAnswers = answers
            let answer = host.call("f", "null")
            return (host.serviceCalls, answer)
        }

        @Test func messageIsSentAndNamed() throws {
            let (calls, answer) = try asked((true, #"{"results":[{"name":"projects/p/messages/1"}]}"#)) { _ in
                .string(try await messaging.send(Message(.token("t"), data: ["b": "2", "a": "1"]), dryRun: true))
            }
            #expect(calls == [#"1 messaging.send {"messages":[{"token":"t","data":{"a":"1","b":"2"}}],"validateOnly":true}"#])
            #expect(answer == .result(#""projects/p/messages/1""#))
        }

        @Test func eachInstallationHasAResponse() throws {
            let body = #"""
                {"results":[{"name":"n"},{"error":{"code":"not-found","message":"Gone.","details":{"reason":"unregistered"}}},
                {"error":{"code":"resource-exhausted","message":"Slow.","details":{"reason":"quota-exceeded","retryAfterSeconds":7}}},
                {"error":{"code":"not-found","message":"Gone.","details":{"reason":"unregistered"}}}]}
                """#
            let (calls, answer) = try asked((true, body)) { _ in
                let message = MulticastMessage(tokens: ["a", "b"], fids: ["c", "d"], notification: .init(title: "Hi"))
                let response = try await messaging.sendEachForMulticast(message)
                return [
                    "counts": [.int(Int64(response.successCount)), .int(Int64(response.failureCount))],
                    "gone": .array(response.unregistered.map { .string($0) }), "name": .string(response.responses[0].messageID ?? ""),
                    "wait": .bool(response.responses[2].error?.retryAfter == .seconds(7)),
                ]
            }
            #expect(
                calls == [
                    #"1 messaging.send {"messages":[{"token":"a","notification":{"title":"Hi"}},{"token":"b","notification":{"title":"Hi"}},"#
                        + #"{"fid":"c","notification":{"title":"Hi"}},{"fid":"d","notification":{"title":"Hi"}}],"validateOnly":false}"#
                ])
            #expect(answer == .result(#"{"counts":[1,3],"gone":["b","d"],"name":"n","wait":true}"#))
        }

        @Test func subscriptionsSayWhichFailed() throws {
            let (calls, answer) = try asked(
                (true, #"{"results":[{},{"error":"NOT_FOUND"}]}"#), (true, #"{"results":[{}]}"#),
                (true, #"{"topics":[{"topic":"news","created":"2026-01-01T00:00:00Z"}]}"#)
            ) { _ in
                let added = try await messaging.subscribe(["a", "b"], toTopic: "/topics/news")
                let removed = try await messaging.unsubscribe(["a"], fromTopic: "news")
                let topics = try await messaging.topics(of: "a")
                let failed = added.errors[0]
                return .string("\(added.successCount) \(failed.registration) \(failed.reason) \(removed.failureCount) \(topics[0].topic)")
            }
            #expect(
                calls == [
                    #"1 messaging.subscribe {"registrations":["a","b"],"topic":"news"}"#,
                    #"1 messaging.unsubscribe {"registrations":["a"],"topic":"news"}"#, #"1 messaging.topics {"registration":"a"}"#,
                ])
            #expect(answer == .result(#""1 b NOT_FOUND 0 news""#))
        }

        @Test func refusalsHaveTheirFields() throws {
            let error = #"""
                {"code":"invalid-argument","message":"Request contains an invalid argument.","details":{"reason":"invalid-argument",
                "fieldViolations":[{"field":"message.android.ttl","description":"too long"}]}}
                """#
            let (_, answer) = try asked((true, "{\"results\":[{\"error\":\(error)}]}"), (false, error)) { _ in
                var texts: [JSONValue] = []
                for _ in 0..<2 {
                    do throws(MessagingError) {
                        _ = try await messaging.send(Message(.topic("t")))
                    } catch {
                        texts.append(.string(error.description))
                    }
                }
                return .array(texts)
            }
            let text = "invalid-argument: Request contains an invalid argument. (message.android.ttl: too long)"
            #expect(answer == .result(#"["\#(text)","\#(text)"]"#))
        }

        @Test func tooManyAreRefusedBeforeTheHostHearsOfThem() throws {
            let (calls, answer) = try asked { _ in
                let none = try await messaging.sendEach([])
                do throws(MessagingError) {
                    _ = try await messaging.sendEach(Array(repeating: Message(.topic("t")), count: 501))
                    return "sent"
                } catch {
                    return .string("\(none.responses.count) \(error.code.rawValue)")
                }
            }
            #expect(calls == [])
            #expect(answer == .result(#""0 invalid-argument""#))
        }
    }
}

/// The wire's form of everything that a message can hold.
@Suite struct MessageForm {
    @Test(
        "targets and conditions",
        arguments: [
            (Target.fid("f"), #"{"fid":"f"}"#), (.token("t"), #"{"token":"t"}"#), (.topic("/topics/a"), #"{"topic":"a"}"#),
            (.condition(.topic("a")), #"{"condition":"'a' in topics"}"#),
            (.condition(.topic("a") && (.topic("b") || !.topic("c"))), #"{"condition":"'a' in topics && ('b' in topics || !('c' in topics))"}"#),
            (.condition((.topic("a") && .topic("b")) || .topic("c")), #"{"condition":"('a' in topics && 'b' in topics) || 'c' in topics"}"#),
            (.condition(.raw("'x' in topics")), #"{"condition":"'x' in topics"}"#),
        ])
    func targets(_ target: Target, _ json: String) { #expect(Message(target).json.description == json) }

    @Test func android() throws {
        var notification = AndroidNotification(title: "t", color: "#102030", channelID: "c", priority: .high)
        notification.bodyLocKey = "k"
        notification.bodyLocArgs = ["1"]
        notification.vibrateTimings = [.zero, .milliseconds(1500)]
        notification.visibility = .secret
        notification.notificationCount = 3
        notification.lightSettings = LightSettings(color: "#ff000080", lightOnDuration: .seconds(1), lightOffDuration: .milliseconds(250))
        let config = AndroidConfig(
            collapseKey: "k", priority: .high, ttl: .seconds(3600), data: ["a": "b"], notification: notification, directBootOk: true)
        let expected = #"""
            {"topic":"t","android":{"collapse_key":"k","priority":"HIGH","ttl":"3600s","data":{"a":"b"},"notification":{"title":"t",
            "color":"#102030","body_loc_key":"k","channel_id":"c","notification_priority":"PRIORITY_HIGH","visibility":"SECRET",
            "body_loc_args":["1"],"vibrate_timings":["0s","1.500000000s"],"light_settings":{"color":{"red":1,"green":0,"blue":0,
            "alpha":0.5019607843137255},"light_on_duration":"1s","light_off_duration":"0.250000000s"},"notification_count":3},"direct_boot_ok":true}}
            """#
        #expect(try Message(.topic("t"), android: config).json == JSONValue(parsing: expected))
    }

    @Test func web() throws {
        var notification = WebpushNotification(title: "t", custom: ["x": 1, "title": "hidden"])
        notification.direction = .rightToLeft
        notification.actions = [.init(action: "a", title: "b")]
        notification.vibrate = [100, 50]
        let config = WebpushConfig(headers: ["TTL": "5"], notification: notification, fcmOptions: .init(link: "https://a.example"))
        let expected = #"""
            {"topic":"t","webpush":{"headers":{"TTL":"5"},"notification":{"x":1,"title":"t","dir":"rtl","vibrate":[100,50],
            "actions":[{"action":"a","title":"b"}]},"fcm_options":{"link":"https://a.example"}}}
            """#
        #expect(try Message(.topic("t"), webpush: config).json == JSONValue(parsing: expected))
    }

    @Test func apple() throws {
        var alert = ApsAlert(title: "t")
        alert.locKey = "k"
        alert.locArgs = ["1"]
        let aps = Aps(
            alert: .parts(alert), badge: 0, sound: .critical(CriticalSound(name: "s", volume: 0.5)), contentAvailable: true, threadID: "th",
            custom: ["event": "start"])
        let config = ApnsConfig(
            headers: ["apns-priority": "5"], payload: ApnsPayload(aps: aps, custom: ["own": [1]]), fcmOptions: .init(imageURL: "https://a.example/i"),
            liveActivityToken: "l")
        let expected = #"""
            {"topic":"t","apns":{"headers":{"apns-priority":"5"},"payload":{"own":[1],"aps":{"event":"start","alert":{"title":"t","loc-key":"k",
            "loc-args":["1"]},"badge":0,"sound":{"critical":1,"name":"s","volume":0.5},"content-available":1,"thread-id":"th"}},
            "fcm_options":{"image":"https://a.example/i"},"live_activity_token":"l"}}
            """#
        #expect(try Message(.topic("t"), apns: config).json == JSONValue(parsing: expected))
        let bare = Message(.topic("t"), apns: ApnsConfig(payload: ApnsPayload(aps: Aps())))
        #expect(bare.json.description == #"{"topic":"t","apns":{"payload":{"aps":{}}}}"#)
    }

    @Test(
        "durations",
        arguments: [
            (Duration.zero, "0s"), (.seconds(2_419_200), "2419200s"), (.milliseconds(-1500), "-1.500000000s"), (.nanoseconds(1), "0.000000001s"),
        ])
    func durations(_ duration: Duration, _ text: String) { #expect(duration.wire == text) }

    @Test func refusalsForCallers() {
        let codes = MessagingError.Code.allCases.map { HttpsError(MessagingError($0, "m")).code }
        #expect(
            codes == [
                .invalidArgument, .notFound, .permissionDenied, .permissionDenied, .failedPrecondition, .resourceExhausted, .failedPrecondition,
                .unavailable, .internal,
            ])
    }
}
