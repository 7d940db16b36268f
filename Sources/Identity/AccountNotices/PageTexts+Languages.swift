/// The built-in languages of the page, which are those of the notices.
extension PageTexts {
    static let all: [String: PageTexts] = Dictionary(
        uniqueKeysWithValues: [english, german, french, spanish, portuguese, japanese].map { ($0.language, $0) })

    static let english = PageTexts(
        language: "en",
        steps: [
            .passwordReset: Step(
                title: "Reset your password", question: "Choose a new %APP_NAME% password for %EMAIL%.", button: "Save",
                done: "Your password was changed. You can sign in with it now."),
            .verifyEmail: Step(
                title: "Verify your e-mail", question: "Is %EMAIL% your e-mail address?", button: "Yes, verify it",
                done: "Your e-mail address was verified."),
            .changeEmail: Step(
                title: "Change your e-mail", question: "The e-mail address of your account changes from %EMAIL% to %NEW_EMAIL%.", button: "Change it",
                done: "Your e-mail address was changed. Sign in with the new one."),
            .recoverEmail: Step(
                title: "Restore your e-mail", question: "The e-mail address of your account becomes %EMAIL% again.", button: "Restore it",
                done: "Your e-mail address was restored. Your password no longer counts: reset it to sign in with a password."),
            .secondFactorAdded: Step(
                title: "Remove a second step", question: "The second step “%FACTOR%” is removed from the account %EMAIL%.", button: "Remove it",
                done: "The second step was removed. Change your password too if another person may know it."),
        ],
        newPassword: "New password", next: "Continue", invalidLink: "This link is not valid, was used already, or is too old. Ask for a new one.",
        tryLater: "That does not work at the moment. Try again in a minute.", tooManyAttempts: "There were too many attempts. Try again later.",
        emailIsTaken: "Another account has this e-mail address already.", passwordNeeds: "The password needs:",
        passwordTooWeak: "This password does not meet the requirements. Choose another one.",
        lengthMin: "at least %COUNT% characters", lengthMax: "at most %COUNT% characters", lowercase: "a lower-case letter",
        uppercase: "an upper-case letter", digit: "a digit", symbol: "a symbol, such as ! or ?")

    static let german = PageTexts(
        language: "de",
        steps: [
            .passwordReset: Step(
                title: "Passwort zurücksetzen", question: "Wähle ein neues Passwort bei %APP_NAME% für %EMAIL%.", button: "Speichern",
                done: "Dein Passwort wurde geändert. Du kannst dich jetzt damit anmelden."),
            .verifyEmail: Step(
                title: "E-Mail-Adresse bestätigen", question: "Ist %EMAIL% deine E-Mail-Adresse?", button: "Ja, bestätigen",
                done: "Deine E-Mail-Adresse wurde bestätigt."),
            .changeEmail: Step(
                title: "E-Mail-Adresse ändern", question: "Die E-Mail-Adresse deines Kontos wird von %EMAIL% in %NEW_EMAIL% geändert.",
                button: "Ändern", done: "Deine E-Mail-Adresse wurde geändert. Melde dich mit der neuen an."),
            .recoverEmail: Step(
                title: "E-Mail-Adresse wiederherstellen", question: "Die E-Mail-Adresse deines Kontos wird wieder %EMAIL%.",
                button: "Wiederherstellen",
                done: "Deine E-Mail-Adresse wurde wiederhergestellt. Dein Passwort gilt nicht mehr: Setze es zurück, um dich damit anzumelden."),
            .secondFactorAdded: Step(
                title: "Zweiten Schritt entfernen", question: "Der zweite Schritt „%FACTOR%“ wird vom Konto %EMAIL% entfernt.", button: "Entfernen",
                done: "Der zweite Schritt wurde entfernt. Ändere auch dein Passwort, wenn es jemand anderes kennen könnte."),
        ],
        newPassword: "Neues Passwort", next: "Weiter",
        invalidLink: "Dieser Link ist ungültig, wurde schon benutzt oder ist zu alt. Fordere einen neuen an.",
        tryLater: "Das geht gerade nicht. Versuche es in einer Minute noch einmal.",
        tooManyAttempts: "Es gab zu viele Versuche. Versuche es später noch einmal.",
        emailIsTaken: "Ein anderes Konto hat diese E-Mail-Adresse schon.", passwordNeeds: "Das Passwort braucht:",
        passwordTooWeak: "Dieses Passwort erfüllt die Anforderungen nicht. Wähle ein anderes.",
        lengthMin: "mindestens %COUNT% Zeichen", lengthMax: "höchstens %COUNT% Zeichen", lowercase: "einen Kleinbuchstaben",
        uppercase: "einen Großbuchstaben", digit: "eine Ziffer", symbol: "ein Sonderzeichen wie ! oder ?")

    static let french = PageTexts(
        language: "fr",
        steps: [
            .passwordReset: Step(
                title: "Réinitialiser le mot de passe", question: "Choisissez un nouveau mot de passe %APP_NAME% pour %EMAIL%.",
                button: "Enregistrer", done: "Votre mot de passe a été modifié. Vous pouvez maintenant vous connecter."),
            .verifyEmail: Step(
                title: "Confirmer l'adresse e-mail", question: "%EMAIL% est-elle votre adresse e-mail ?", button: "Oui, confirmer",
                done: "Votre adresse e-mail a été confirmée."),
            .changeEmail: Step(
                title: "Modifier l'adresse e-mail", question: "L'adresse e-mail de votre compte passe de %EMAIL% à %NEW_EMAIL%.",
                button: "Modifier", done: "Votre adresse e-mail a été modifiée. Connectez-vous avec la nouvelle."),
            .recoverEmail: Step(
                title: "Rétablir l'adresse e-mail", question: "L'adresse e-mail de votre compte redevient %EMAIL%.", button: "Rétablir",
                done: "Votre adresse e-mail a été rétablie. Votre mot de passe n'est plus valable : réinitialisez-le pour vous connecter."),
            .secondFactorAdded: Step(
                title: "Supprimer une seconde étape", question: "La seconde étape « %FACTOR% » est supprimée du compte %EMAIL%.",
                button: "Supprimer",
                done: "La seconde étape a été supprimée. Changez aussi votre mot de passe si quelqu'un d'autre peut le connaître."),
        ],
        newPassword: "Nouveau mot de passe", next: "Continuer",
        invalidLink: "Ce lien n'est pas valable, a déjà été utilisé ou est trop ancien. Demandez-en un nouveau.",
        tryLater: "Cela ne fonctionne pas pour le moment. Réessayez dans une minute.",
        tooManyAttempts: "Il y a eu trop de tentatives. Réessayez plus tard.",
        emailIsTaken: "Un autre compte a déjà cette adresse e-mail.", passwordNeeds: "Le mot de passe doit contenir :",
        passwordTooWeak: "Ce mot de passe ne remplit pas les conditions. Choisissez-en un autre.",
        lengthMin: "au moins %COUNT% caractères", lengthMax: "au plus %COUNT% caractères", lowercase: "une minuscule", uppercase: "une majuscule",
        digit: "un chiffre", symbol: "un symbole, comme ! ou ?")

    static let spanish = PageTexts(
        language: "es",
        steps: [
            .passwordReset: Step(
                title: "Restablecer la contraseña", question: "Elige una contraseña nueva de %APP_NAME% para %EMAIL%.", button: "Guardar",
                done: "Tu contraseña se ha cambiado. Ya puedes iniciar sesión con ella."),
            .verifyEmail: Step(
                title: "Verificar el correo electrónico", question: "¿Es %EMAIL% tu dirección de correo?", button: "Sí, verificar",
                done: "Tu dirección de correo se ha verificado."),
            .changeEmail: Step(
                title: "Cambiar el correo electrónico", question: "La dirección de correo de tu cuenta cambia de %EMAIL% a %NEW_EMAIL%.",
                button: "Cambiar", done: "Tu dirección de correo se ha cambiado. Inicia sesión con la nueva."),
            .recoverEmail: Step(
                title: "Restablecer el correo electrónico", question: "La dirección de correo de tu cuenta vuelve a ser %EMAIL%.",
                button: "Restablecer",
                done: "Tu dirección de correo se ha restablecido. Tu contraseña ya no es válida: restablécela para iniciar sesión con ella."),
            .secondFactorAdded: Step(
                title: "Eliminar un segundo paso", question: "El segundo paso «%FACTOR%» se elimina de la cuenta %EMAIL%.", button: "Eliminar",
                done: "El segundo paso se ha eliminado. Cambia también tu contraseña si otra persona puede conocerla."),
        ],
        newPassword: "Contraseña nueva", next: "Continuar",
        invalidLink: "Este enlace no es válido, ya se ha usado o es demasiado antiguo. Pide uno nuevo.",
        tryLater: "Ahora mismo no funciona. Inténtalo de nuevo en un minuto.", tooManyAttempts: "Ha habido demasiados intentos. Inténtalo más tarde.",
        emailIsTaken: "Otra cuenta ya tiene esta dirección de correo.", passwordNeeds: "La contraseña necesita:",
        passwordTooWeak: "Esta contraseña no cumple los requisitos. Elige otra.",
        lengthMin: "al menos %COUNT% caracteres", lengthMax: "como máximo %COUNT% caracteres", lowercase: "una letra minúscula",
        uppercase: "una letra mayúscula", digit: "un número", symbol: "un símbolo, como ! o ?")

    static let portuguese = PageTexts(
        language: "pt",
        steps: [
            .passwordReset: Step(
                title: "Redefinir a senha", question: "Escolha uma nova senha de %APP_NAME% para %EMAIL%.", button: "Salvar",
                done: "Sua senha foi alterada. Agora você pode fazer login com ela."),
            .verifyEmail: Step(
                title: "Confirmar o e-mail", question: "%EMAIL% é o seu endereço de e-mail?", button: "Sim, confirmar",
                done: "Seu endereço de e-mail foi confirmado."),
            .changeEmail: Step(
                title: "Alterar o e-mail", question: "O endereço de e-mail da sua conta muda de %EMAIL% para %NEW_EMAIL%.", button: "Alterar",
                done: "Seu endereço de e-mail foi alterado. Faça login com o novo."),
            .recoverEmail: Step(
                title: "Restaurar o e-mail", question: "O endereço de e-mail da sua conta volta a ser %EMAIL%.", button: "Restaurar",
                done: "Seu endereço de e-mail foi restaurado. Sua senha não vale mais: redefina-a para fazer login com ela."),
            .secondFactorAdded: Step(
                title: "Remover uma segunda etapa", question: "A segunda etapa “%FACTOR%” é removida da conta %EMAIL%.", button: "Remover",
                done: "A segunda etapa foi removida. Altere também a senha se outra pessoa puder conhecê-la."),
        ],
        newPassword: "Nova senha", next: "Continuar", invalidLink: "Este link não é válido, já foi usado ou é muito antigo. Peça um novo.",
        tryLater: "Isso não funciona no momento. Tente de novo em um minuto.", tooManyAttempts: "Houve tentativas demais. Tente mais tarde.",
        emailIsTaken: "Outra conta já tem este endereço de e-mail.", passwordNeeds: "A senha precisa de:",
        passwordTooWeak: "Esta senha não atende aos requisitos. Escolha outra.",
        lengthMin: "pelo menos %COUNT% caracteres", lengthMax: "no máximo %COUNT% caracteres", lowercase: "uma letra minúscula",
        uppercase: "uma letra maiúscula", digit: "um número", symbol: "um símbolo, como ! ou ?")

    static let japanese = PageTexts(
        language: "ja",
        steps: [
            .passwordReset: Step(
                title: "パスワードの再設定", question: "%EMAIL% の新しい %APP_NAME% パスワードを入力してください。", button: "保存",
                done: "パスワードを変更しました。新しいパスワードでログインできます。"),
            .verifyEmail: Step(
                title: "メールアドレスの確認", question: "%EMAIL% はお客様のメールアドレスですか。", button: "はい、確認します",
                done: "メールアドレスを確認しました。"),
            .changeEmail: Step(
                title: "メールアドレスの変更", question: "アカウントのメールアドレスを %EMAIL% から %NEW_EMAIL% に変更します。", button: "変更",
                done: "メールアドレスを変更しました。新しいメールアドレスでログインしてください。"),
            .recoverEmail: Step(
                title: "メールアドレスの復元", question: "アカウントのメールアドレスを %EMAIL% に戻します。", button: "元に戻す",
                done: "メールアドレスを元に戻しました。これまでのパスワードは使えません。パスワードを再設定してください。"),
            .secondFactorAdded: Step(
                title: "2 段階認証の解除", question: "アカウント %EMAIL% の 2 段階認証「%FACTOR%」を解除します。", button: "解除",
                done: "2 段階認証を解除しました。他人に知られた可能性がある場合は、パスワードも変更してください。"),
        ],
        newPassword: "新しいパスワード", next: "続ける",
        invalidLink: "このリンクは無効か、使用済みか、期限切れです。もう一度リンクを請求してください。",
        tryLater: "現在ご利用いただけません。しばらくしてからもう一度お試しください。", tooManyAttempts: "試行回数が多すぎます。後でもう一度お試しください。",
        emailIsTaken: "このメールアドレスは別のアカウントで使用されています。", passwordNeeds: "パスワードの条件:",
        passwordTooWeak: "このパスワードは条件を満たしていません。別のパスワードを設定してください。", lengthMin: "%COUNT% 文字以上",
        lengthMax: "%COUNT% 文字以下", lowercase: "英小文字を含む", uppercase: "英大文字を含む", digit: "数字を含む", symbol: "記号 (! や ? など) を含む")
}
