import HearthFunctions

/// A chat's message board, as in the Firebase guides. Signed-in users add messages, and each message is shown in capitals, too.
let functions = Functions {
    OnCall("addMessage") { (request: CallableRequest<NewMessage>) in
        let text = request.data.text
        guard !text.isEmpty else {
            throw HttpsError(.invalidArgument, "The function must be called with one argument \"text\", a non-empty string.")
        }
        guard let user = request.auth else {
            throw HttpsError(.failedPrecondition, "The function must be called while authenticated.")
        }
        let clean = sanitize(text)
        let message = database.reference("messages").childByAutoID()
        try await message.setValue(Message(text: clean, author: Author(user)))
        logger.info("added a message", metadata: ["uid": "\(user.uid)", "path": "\(message.path)"])
        return AddedMessage(text: clean)
    }

    OnValueCreated("makeUppercase", ref: "/messages/{pushId}/original") { (event: DatabaseEvent<String>) in
        let uppercase = event.data.uppercased()
        logger.info("making capitals", metadata: ["message": "\(event.params["pushId"] ?? "")"])
        try await event.ref.parent?.child("uppercase").setValue(uppercase)
    }
}

struct NewMessage: Decodable {
    var text: String
}

struct AddedMessage: Encodable {
    var text: String
}

/// The stored form of a message.
struct Message: Encodable {
    var text: String
    var author: Author
}

/// The author of a message, from the token. Absent claims are left out.
struct Author: Encodable {
    var uid: String
    var name: String?
    var picture: String?
    var email: String?

    init(_ user: AuthData) {
        uid = user.uid
        name = user.name
        picture = user.picture
        email = user.email
    }
}
