import HearthFunctions

// The functions of docs/user-functions.md.
let functions = Functions {
    OnUserCreated("makeProfile", retry: true) { event in
        try await database.reference("profiles/\(event.data.uid)").setValue(["name": .string(event.data.displayName ?? "new")])
    }
    OnUserDeleted("removeProfile", retry: true) { event in
        try await database.reference("profiles/\(event.data.uid)").removeValue()
    }
    BeforeUserCreated("onlyOurs") { event in
        guard event.data?.email?.hasSuffix("@example.com") == true else { throw HttpsError(.permissionDenied, "Use your work e-mail.") }
        return BeforeCreateResponse(customClaims: ["staff": true])
    }
    BeforeUserSignedIn("remember") { event in
        BeforeSignInResponse(sessionClaims: ["address": .string(event.ipAddress ?? "")])
    }
    BeforeSMSSent("ourCountry") { event in
        guard event.additionalUserInfo.phoneNumber?.hasPrefix("+49") == true else { throw HttpsError(.permissionDenied, "Not to this country.") }
        return nil
    }
}
