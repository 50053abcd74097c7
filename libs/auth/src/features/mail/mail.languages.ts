import type { InEachLanguage, WithMails } from '../../foundation/languages/catalogue';

export const mailLanguages: InEachLanguage<WithMails<'existingAccount'>> = {
  en: {
    mails: {
      existingAccount: {
        subject: 'You already have an account at {appName}',
        preheader: 'Sign in, or reset the password if you cannot.',
        title: 'You already have an account',
        body: 'A registration at {appName}, or a change of the address of another account, was attempted with this email address. It already has an account.\n\nIf it was you, sign in. If you cannot sign in, reset the password.',
        note: 'If it was not you, ignore this mail: nothing has changed.',
      },
    },
  },
  de: {
    mails: {
      existingAccount: {
        subject: 'Sie haben bereits ein Konto bei {appName}',
        preheader: 'Melden Sie sich an, oder setzen Sie das Passwort zurück.',
        title: 'Sie haben bereits ein Konto',
        body: 'Jemand hat versucht, sich bei {appName} mit dieser E-Mail-Adresse zu registrieren oder die Adresse eines anderen Kontos in diese zu ändern. Zu ihr gibt es bereits ein Konto.\n\nWenn Sie das waren, melden Sie sich an. Wenn Sie sich nicht anmelden können, setzen Sie das Passwort zurück.',
        note: 'Wenn Sie das nicht waren, ignorieren Sie diese E-Mail. Es hat sich nichts geändert.',
      },
    },
  },
  fr: {
    mails: {
      existingAccount: {
        subject: 'Vous avez déjà un compte {appName}',
        preheader: 'Connectez-vous ou réinitialisez le mot de passe.',
        title: 'Vous avez déjà un compte',
        body: 'Quelqu’un a essayé de s’inscrire sur {appName} avec cette adresse e-mail, ou de l’indiquer comme nouvelle adresse d’un autre compte. Un compte est déjà associé à cette adresse.\n\nSi c’était vous, connectez-vous. Si vous ne parvenez pas à vous connecter, réinitialisez le mot de passe.',
        note: 'Si ce n’était pas vous, ignorez cet e-mail : rien n’a changé.',
      },
    },
  },
  es: {
    mails: {
      existingAccount: {
        subject: 'Ya tiene una cuenta de {appName}',
        preheader: 'Inicie sesión o restablezca la contraseña.',
        title: 'Ya tiene una cuenta',
        body: 'Alguien ha intentado registrarse en {appName} con esta dirección de correo electrónico, o indicarla como la nueva dirección de otra cuenta. Esta dirección ya tiene una cuenta.\n\nSi ha sido usted, inicie sesión. Si no puede iniciar sesión, restablezca la contraseña.',
        note: 'Si no ha sido usted, ignore este mensaje: no ha cambiado nada.',
      },
    },
  },
  pt: {
    mails: {
      existingAccount: {
        subject: 'Você já tem uma conta em {appName}',
        preheader: 'Entre na sua conta ou redefina a senha.',
        title: 'Você já tem uma conta',
        body: 'Alguém tentou se cadastrar em {appName} com este endereço de e-mail ou informá-lo como o novo endereço de outra conta. Este endereço já tem uma conta.\n\nSe foi você, entre na sua conta. Se não conseguir entrar, redefina a senha.',
        note: 'Se não foi você, ignore este e-mail: nada mudou.',
      },
    },
  },
  ja: {
    mails: {
      existingAccount: {
        subject: '{appName} のアカウントをすでにお持ちです',
        preheader: 'ログインするか、パスワードを再設定してください。',
        title: 'アカウントをすでにお持ちです',
        body: 'このメールアドレスを使って {appName} に登録しようとした人、または別のアカウントのメールアドレスをこのアドレスに変更しようとした人がいますが、このメールアドレスのアカウントはすでに存在します。\n\nお客様ご自身の場合は、ログインしてください。ログインできない場合は、パスワードを再設定してください。',
        note: 'お心当たりがない場合は、このメールを破棄してください。変更は行われていません。',
      },
    },
  },
};
