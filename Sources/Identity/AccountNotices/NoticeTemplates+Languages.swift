/// The built-in templates.
extension NoticeTemplates {
    static let builtIn: [String: [Notice.Kind: NoticeTemplate]] = [
        "en": english, "de": german, "fr": french, "es": spanish, "pt": portuguese, "ja": japanese,
    ]

    static func lastResort(_ kind: Notice.Kind) -> NoticeTemplate {
        english[kind] ?? NoticeTemplate(subject: "%APP_NAME%", text: "%LINK%%CODE%")
    }

    private static func mail(_ subject: String, _ greeting: String, _ before: String, _ after: String, _ farewell: String) -> NoticeTemplate {
        NoticeTemplate(subject: subject, text: "\(greeting)\n\n\(before)\n\n%LINK%\n\n\(after)\n\n\(farewell)")
    }

    private static func told(_ subject: String, _ greeting: String, _ news: String, _ advice: String, _ farewell: String) -> NoticeTemplate {
        NoticeTemplate(subject: subject, text: "\(greeting)\n\n\(news)\n\n\(advice)\n\n\(farewell)")
    }

    private static func message(_ text: String) -> NoticeTemplate { NoticeTemplate(subject: "", text: text) }

    private static let english: [Notice.Kind: NoticeTemplate] = {
        func mail(_ subject: String, _ before: String, _ after: String) -> NoticeTemplate {
            Self.mail(subject, "Hello,", before, after, "Your %APP_NAME% team")
        }
        return [
            .passwordReset: mail(
                "Reset your password for %APP_NAME%", "Follow this link to reset the %APP_NAME% password of your account %EMAIL%.",
                "If you did not ask to reset your password, ignore this e-mail."),
            .verifyEmail: mail(
                "Verify your e-mail for %APP_NAME%", "Follow this link to verify your e-mail address.",
                "If you did not ask to verify this address, ignore this e-mail."),
            .signIn: mail(
                "Sign in to %APP_NAME%", "Follow this link to sign in to %APP_NAME% as %EMAIL%.",
                "If you did not ask for this link, ignore this e-mail."),
            .changeEmail: mail(
                "Verify your new e-mail for %APP_NAME%", "Follow this link to change the e-mail address of your account to %NEW_EMAIL%.",
                "If you did not ask for this change, ignore this e-mail."),
            .recoverEmail: mail(
                "Your sign-in e-mail for %APP_NAME% was changed",
                "The e-mail address of your account was changed to %NEW_EMAIL%. If you did not do this, follow this link to restore %EMAIL%.",
                "If you made this change, ignore this e-mail."),
            .emailRemoved: mail(
                "Your sign-in e-mail for %APP_NAME% was removed",
                "The e-mail address %EMAIL% was removed from your account. If you did not do this, follow this link to restore it.",
                "If you removed it, ignore this e-mail."),
            .secondFactorAdded: mail(
                "A second step was added to your %APP_NAME% account",
                "The second step “%FACTOR%” was added to your account %EMAIL%. If you did not do this, follow this link to remove it.",
                "If you added it, ignore this e-mail."),
            .signInAdded: told(
                "A way to sign in was added to your %APP_NAME% account", "Hello,",
                "“%FACTOR%” can be used to sign in to your account %EMAIL% from now on.",
                "If you did not do this, reset your password: that removes linked accounts and ends all sessions. If you did it, ignore this e-mail.",
                "Your %APP_NAME% team"),
            .textMessage: message("%CODE% is your verification code for %APP_NAME%."),
        ]
    }()

    private static let german: [Notice.Kind: NoticeTemplate] = {
        func mail(_ subject: String, _ before: String, _ after: String) -> NoticeTemplate {
            Self.mail(subject, "Hallo,", before, after, "Dein Team von %APP_NAME%")
        }
        return [
            .passwordReset: mail(
                "Passwort für %APP_NAME% zurücksetzen", "Mit diesem Link setzt du das Passwort deines Kontos %EMAIL% bei %APP_NAME% zurück.",
                "Wenn du das nicht angefordert hast, ignoriere diese E-Mail."),
            .verifyEmail: mail(
                "E-Mail-Adresse für %APP_NAME% bestätigen", "Mit diesem Link bestätigst du deine E-Mail-Adresse.",
                "Wenn du das nicht angefordert hast, ignoriere diese E-Mail."),
            .signIn: mail(
                "Anmeldung bei %APP_NAME%", "Mit diesem Link meldest du dich als %EMAIL% bei %APP_NAME% an.",
                "Wenn du das nicht angefordert hast, ignoriere diese E-Mail."),
            .changeEmail: mail(
                "Neue E-Mail-Adresse für %APP_NAME% bestätigen", "Mit diesem Link änderst du die E-Mail-Adresse deines Kontos in %NEW_EMAIL%.",
                "Wenn du das nicht angefordert hast, ignoriere diese E-Mail."),
            .recoverEmail: mail(
                "Deine E-Mail-Adresse für %APP_NAME% wurde geändert",
                "Die E-Mail-Adresse deines Kontos ist jetzt %NEW_EMAIL%. Wenn du das nicht warst, stellst du mit diesem Link %EMAIL% wieder her.",
                "Wenn du das selbst geändert hast, ignoriere diese E-Mail."),
            .emailRemoved: mail(
                "Deine E-Mail-Adresse für %APP_NAME% wurde entfernt",
                "Die E-Mail-Adresse %EMAIL% wurde aus deinem Konto entfernt. Wenn du das nicht warst, stellst du sie mit diesem Link wieder her.",
                "Wenn du sie selbst entfernt hast, ignoriere diese E-Mail."),
            .secondFactorAdded: mail(
                "Ein zweiter Schritt wurde deinem Konto bei %APP_NAME% hinzugefügt",
                "Deinem Konto %EMAIL% wurde der zweite Schritt „%FACTOR%“ hinzugefügt. Wenn du das nicht warst, entfernst du ihn mit diesem Link.",
                "Wenn du das selbst warst, ignoriere diese E-Mail."),
            .signInAdded: told(
                "Deinem Konto bei %APP_NAME% wurde eine Anmeldung hinzugefügt", "Hallo,",
                "Bei deinem Konto %EMAIL% kann man sich jetzt auch mit „%FACTOR%“ anmelden.",
                "Wenn du das nicht warst, setze dein Passwort zurück: Das entfernt verknüpfte Konten und beendet alle Sitzungen. "
                    + "Wenn du es warst, ignoriere diese E-Mail.",
                "Dein Team von %APP_NAME%"),
            .textMessage: message("%CODE% ist dein Bestätigungscode für %APP_NAME%."),
        ]
    }()

    private static let french: [Notice.Kind: NoticeTemplate] = {
        func mail(_ subject: String, _ before: String, _ after: String) -> NoticeTemplate {
            Self.mail(subject, "Bonjour,", before, after, "L'équipe de %APP_NAME%")
        }
        return [
            .passwordReset: mail(
                "Réinitialisez votre mot de passe pour %APP_NAME%",
                "Suivez ce lien pour réinitialiser le mot de passe de votre compte %EMAIL% sur %APP_NAME%.",
                "Si vous n'avez rien demandé, ignorez cet e-mail."),
            .verifyEmail: mail(
                "Confirmez votre adresse e-mail pour %APP_NAME%", "Suivez ce lien pour confirmer votre adresse e-mail.",
                "Si vous n'avez rien demandé, ignorez cet e-mail."),
            .signIn: mail(
                "Connexion à %APP_NAME%", "Suivez ce lien pour vous connecter à %APP_NAME% en tant que %EMAIL%.",
                "Si vous n'avez rien demandé, ignorez cet e-mail."),
            .changeEmail: mail(
                "Confirmez votre nouvelle adresse e-mail pour %APP_NAME%",
                "Suivez ce lien pour remplacer l'adresse e-mail de votre compte par %NEW_EMAIL%.",
                "Si vous n'avez rien demandé, ignorez cet e-mail."),
            .recoverEmail: mail(
                "Votre adresse e-mail pour %APP_NAME% a été modifiée",
                "L'adresse e-mail de votre compte a été remplacée par %NEW_EMAIL%. Si ce n'était pas vous, suivez ce lien pour rétablir %EMAIL%.",
                "Si vous avez fait ce changement, ignorez cet e-mail."),
            .emailRemoved: mail(
                "Votre adresse e-mail pour %APP_NAME% a été supprimée",
                "L'adresse e-mail %EMAIL% a été supprimée de votre compte. Si ce n'était pas vous, suivez ce lien pour la rétablir.",
                "Si vous l'avez supprimée, ignorez cet e-mail."),
            .secondFactorAdded: mail(
                "Une seconde étape a été ajoutée à votre compte %APP_NAME%",
                "La seconde étape « %FACTOR% » a été ajoutée à votre compte %EMAIL%. Si ce n'était pas vous, suivez ce lien pour la supprimer.",
                "Si vous l'avez ajoutée, ignorez cet e-mail."),
            .signInAdded: told(
                "Un moyen de connexion a été ajouté à votre compte %APP_NAME%", "Bonjour,",
                "« %FACTOR% » permet désormais de se connecter à votre compte %EMAIL%.",
                "Si ce n'était pas vous, réinitialisez votre mot de passe : cela supprime les comptes associés et ferme toutes les sessions. "
                    + "Sinon, ignorez cet e-mail.",
                "L'équipe de %APP_NAME%"),
            .textMessage: message("%CODE% est votre code de validation pour %APP_NAME%."),
        ]
    }()

    private static let spanish: [Notice.Kind: NoticeTemplate] = {
        func mail(_ subject: String, _ before: String, _ after: String) -> NoticeTemplate {
            Self.mail(subject, "Hola:", before, after, "El equipo de %APP_NAME%")
        }
        return [
            .passwordReset: mail(
                "Restablece tu contraseña de %APP_NAME%", "Sigue este enlace para restablecer la contraseña de tu cuenta %EMAIL% en %APP_NAME%.",
                "Si no lo has solicitado, ignora este correo."),
            .verifyEmail: mail(
                "Verifica tu correo electrónico para %APP_NAME%", "Sigue este enlace para verificar tu dirección de correo electrónico.",
                "Si no lo has solicitado, ignora este correo."),
            .signIn: mail(
                "Inicia sesión en %APP_NAME%", "Sigue este enlace para iniciar sesión en %APP_NAME% como %EMAIL%.",
                "Si no lo has solicitado, ignora este correo."),
            .changeEmail: mail(
                "Verifica tu nuevo correo electrónico para %APP_NAME%",
                "Sigue este enlace para cambiar la dirección de correo electrónico de tu cuenta a %NEW_EMAIL%.",
                "Si no lo has solicitado, ignora este correo."),
            .recoverEmail: mail(
                "Se ha cambiado tu correo electrónico de %APP_NAME%",
                "La dirección de correo de tu cuenta se ha cambiado a %NEW_EMAIL%. Si no has sido tú, sigue este enlace para restablecer %EMAIL%.",
                "Si has hecho este cambio, ignora este correo."),
            .emailRemoved: mail(
                "Se ha eliminado tu correo electrónico de %APP_NAME%",
                "La dirección de correo %EMAIL% se ha eliminado de tu cuenta. Si no has sido tú, sigue este enlace para restablecerla.",
                "Si la has eliminado tú, ignora este correo."),
            .secondFactorAdded: mail(
                "Se ha añadido un segundo paso a tu cuenta de %APP_NAME%",
                "Se ha añadido el segundo paso «%FACTOR%» a tu cuenta %EMAIL%. Si no has sido tú, sigue este enlace para eliminarlo.",
                "Si lo has añadido tú, ignora este correo."),
            .signInAdded: told(
                "Se ha añadido una forma de iniciar sesión a tu cuenta de %APP_NAME%", "Hola:",
                "Ahora se puede iniciar sesión en tu cuenta %EMAIL% con «%FACTOR%».",
                "Si no has sido tú, restablece tu contraseña: así se quitan las cuentas vinculadas y se cierran todas las sesiones. "
                    + "Si has sido tú, ignora este correo.",
                "El equipo de %APP_NAME%"),
            .textMessage: message("%CODE% es tu código de verificación de %APP_NAME%."),
        ]
    }()

    private static let portuguese: [Notice.Kind: NoticeTemplate] = {
        func mail(_ subject: String, _ before: String, _ after: String) -> NoticeTemplate {
            Self.mail(subject, "Olá,", before, after, "Equipe de %APP_NAME%")
        }
        return [
            .passwordReset: mail(
                "Redefina sua senha de %APP_NAME%", "Acesse este link para redefinir a senha da sua conta %EMAIL% em %APP_NAME%.",
                "Se você não fez este pedido, ignore este e-mail."),
            .verifyEmail: mail(
                "Confirme seu e-mail para %APP_NAME%", "Acesse este link para confirmar seu endereço de e-mail.",
                "Se você não fez este pedido, ignore este e-mail."),
            .signIn: mail(
                "Faça login em %APP_NAME%", "Acesse este link para fazer login em %APP_NAME% como %EMAIL%.",
                "Se você não fez este pedido, ignore este e-mail."),
            .changeEmail: mail(
                "Confirme seu novo e-mail para %APP_NAME%", "Acesse este link para alterar o endereço de e-mail da sua conta para %NEW_EMAIL%.",
                "Se você não fez este pedido, ignore este e-mail."),
            .recoverEmail: mail(
                "Seu e-mail de %APP_NAME% foi alterado",
                "O endereço de e-mail da sua conta foi alterado para %NEW_EMAIL%. Se não foi você, acesse este link para restaurar %EMAIL%.",
                "Se você fez esta alteração, ignore este e-mail."),
            .emailRemoved: mail(
                "Seu e-mail de %APP_NAME% foi removido",
                "O endereço de e-mail %EMAIL% foi removido da sua conta. Se não foi você, acesse este link para restaurá-lo.",
                "Se você o removeu, ignore este e-mail."),
            .secondFactorAdded: mail(
                "Uma segunda etapa foi adicionada à sua conta %APP_NAME%",
                "A segunda etapa “%FACTOR%” foi adicionada à sua conta %EMAIL%. Se não foi você, acesse este link para removê-la.",
                "Se você a adicionou, ignore este e-mail."),
            .signInAdded: told(
                "Uma forma de login foi adicionada à sua conta %APP_NAME%", "Olá,",
                "Agora é possível fazer login na sua conta %EMAIL% com “%FACTOR%”.",
                "Se não foi você, redefina sua senha: isso remove as contas vinculadas e encerra todas as sessões. Se foi você, ignore este e-mail.",
                "Equipe de %APP_NAME%"),
            .textMessage: message("%CODE% é seu código de verificação de %APP_NAME%."),
        ]
    }()

    private static let japanese: [Notice.Kind: NoticeTemplate] = {
        func mail(_ subject: String, _ before: String, _ after: String) -> NoticeTemplate {
            Self.mail(subject, "お客様", before, after, "%APP_NAME% チーム")
        }
        let ignore = "お心当たりがない場合は、このメールを無視してください。"
        return [
            .passwordReset: mail(
                "%APP_NAME% のパスワードの再設定", "%APP_NAME% のアカウント %EMAIL% のパスワードを再設定するには、次のリンクをクリックしてください。", ignore),
            .verifyEmail: mail("%APP_NAME% のメールアドレスの確認", "メールアドレスを確認するには、次のリンクをクリックしてください。", ignore),
            .signIn: mail("%APP_NAME% へのログイン", "%EMAIL% として %APP_NAME% にログインするには、次のリンクをクリックしてください。", ignore),
            .changeEmail: mail(
                "%APP_NAME% の新しいメールアドレスの確認", "アカウントのメールアドレスを %NEW_EMAIL% に変更するには、次のリンクをクリックしてください。", ignore),
            .recoverEmail: mail(
                "%APP_NAME% のメールアドレスが変更されました",
                "アカウントのメールアドレスが %NEW_EMAIL% に変更されました。お心当たりがない場合は、次のリンクをクリックして %EMAIL% に戻してください。",
                "ご自身で変更された場合は、このメールを無視してください。"),
            .emailRemoved: mail(
                "%APP_NAME% のメールアドレスが削除されました",
                "アカウントからメールアドレス %EMAIL% が削除されました。お心当たりがない場合は、次のリンクをクリックして元に戻してください。",
                "ご自身で削除された場合は、このメールを無視してください。"),
            .secondFactorAdded: mail(
                "%APP_NAME% のアカウントに 2 段階認証が追加されました",
                "アカウント %EMAIL% に 2 段階認証「%FACTOR%」が追加されました。お心当たりがない場合は、次のリンクをクリックして解除してください。",
                "ご自身で追加された場合は、このメールを無視してください。"),
            .signInAdded: told(
                "%APP_NAME% のアカウントにログイン方法が追加されました", "お客様",
                "アカウント %EMAIL% に「%FACTOR%」でログインできるようになりました。",
                "お心当たりがない場合は、パスワードを再設定してください。連携したアカウントが解除され、すべてのセッションが終了します。ご自身で追加された場合は、このメールを無視してください。",
                "%APP_NAME% チーム"),
            .textMessage: message("%APP_NAME% の確認コードは %CODE% です。"),
        ]
    }()
}
