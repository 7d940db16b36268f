import ArgumentParser

/// The commands that talk to a running host, in the order in which help lists them.
let clientCommands: [any ParsableCommand.Type] = [
    Deploy.self, FunctionsList.self, FunctionsVersions.self, FunctionsRollback.self, FunctionsSplit.self, FunctionsDelete.self, FunctionsLog.self,
    FunctionsCall.self, FunctionsShell.self,
    DatabaseGet.self, DatabaseSet.self, DatabaseUpdate.self, DatabasePush.self, DatabaseRemove.self, DatabaseImport.self,
    DatabaseExport.self, DatabaseRules.self, DatabaseProfile.self, EventsList.self, EventsShow.self, EventsReplay.self, EventsDelete.self,
    MessagingSend.self, MessagingDevices.self, MessagingTopics.self,
    Upgrade.self, Backup.self, Restore.self,
]
