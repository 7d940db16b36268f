/// Comparing texts by their bytes, as the store does. `==` also holds for texts that Unicode calls equivalent, such as `é` and `e` with an accent:
/// with it, two users could be taken for one.
extension String {
    /// Whether both have the same bytes.
    public func isExactly(_ other: String?) -> Bool { other.map { utf8.elementsEqual($0.utf8) } ?? false }
}

extension UserRecord {
    /// Whether both are records of one user.
    func isSameUser(as other: UserRecord) -> Bool { uid.isExactly(other.uid) && tenant.isExactly(other.tenant) }

    /// Whether this is the e-mail of the user.
    func hasEmail(_ email: String?) -> Bool { self.email?.isExactly(email) ?? (email == nil) }
}
