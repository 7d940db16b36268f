import HearthFunctions

/// Notifies users on all of their devices of a new follower, as in the Firebase samples.
///
/// A follower is `/followers/FOLLOWED/FOLLOWER: true`; a device is `/users/UID/notificationTokens/TOKEN: true`.
let functions = Functions {
    OnValueWritten("sendFollowerNotification", ref: "/followers/{followedUid}/{followerUid}") { event in
        let followed = event.params["followedUid"] ?? ""
        let follower = event.params["followerUid"] ?? ""
        guard event.data.after.exists() else {
            logger.info("stopped following", metadata: ["followed": "\(followed)", "follower": "\(follower)"])
            return
        }
        let devices = database.reference("users/\(followed)/notificationTokens")
        let tokens = try await devices.getData().children.compactMap(\.key)
        guard !tokens.isEmpty else {
            logger.info("nobody to tell: there are no notification tokens", metadata: ["followed": "\(followed)"])
            return
        }
        let gone = try await tell(tokens, of: try await Follower(uid: follower))
        try await forget(gone, at: devices)
    }
}

/// A follower, from the profile at `/users/UID`.
struct Follower {
    var name: String
    var photoURL: String?

    init(uid: String) async throws {
        let profile = try await database.reference("users/\(uid)").getData()
        name = profile.childSnapshot(forPath: "displayName").value.string ?? "Somebody"
        photoURL = profile.childSnapshot(forPath: "photoURL").value.string
    }
}

/// Sends a message to each device.
///
/// - Returns: the tokens that are not registered any more.
func tell(_ tokens: [String], of follower: Follower) async throws -> [String] {
    let notification = Message.Notification(
        title: "You have a new follower!", body: "\(follower.name) is now following you.", imageURL: follower.photoURL)
    var gone: [String] = []
    for start in stride(from: 0, to: tokens.count, by: Messaging.messagesMax) {
        let part = Array(tokens[start..<min(start + Messaging.messagesMax, tokens.count)])
        let response = try await messaging.sendEachForMulticast(MulticastMessage(tokens: part, notification: notification))
        for (token, result) in zip(part, response.responses) {
            guard let error = result.error else { continue }
            logger.warning("a device could not be told", metadata: ["token": "\(token.prefix(12))...", "reason": "\(error)"])
        }
        gone += response.unregistered
    }
    logger.info("told of a follower", metadata: ["devices": "\(tokens.count)", "gone": "\(gone.count)"])
    return gone
}

/// Removes dead tokens, all in one write.
func forget(_ tokens: [String], at devices: DatabaseReference) async throws {
    guard !tokens.isEmpty else { return }
    var removals: [String: JSONValue] = [:]
    for token in tokens { removals[token] = JSONValue.null }
    try await devices.updateChildValues(removals)
}
