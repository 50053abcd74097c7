import type { InEachLanguage, WithMails } from '../../foundation/languages/catalogue';

export const changePasswordLanguages: InEachLanguage<WithMails<'passwordChanged'>> = {
  en: {
    mails: {
      passwordChanged: {
        subject: 'Your password at {appName} was changed',
        title: 'Your password was changed',
        body: 'The password of your account at {appName} was changed.',
      },
    },
  },
  de: {
    mails: {
      passwordChanged: {
        subject: 'Ihr Passwort bei {appName} wurde geändert',
        title: 'Ihr Passwort wurde geändert',
        body: 'Das Passwort Ihres Kontos bei {appName} wurde geändert.',
      },
    },
  },
  fr: {
    mails: {
      passwordChanged: {
        subject: 'Votre mot de passe {appName} a été modifié',
        title: 'Votre mot de passe a été modifié',
        body: 'Le mot de passe de votre compte {appName} a été modifié.',
      },
    },
  },
  es: {
    mails: {
      passwordChanged: {
        subject: 'Se ha cambiado su contraseña de {appName}',
        title: 'Se ha cambiado su contraseña',
        body: 'Se ha cambiado la contraseña de su cuenta de {appName}.',
      },
    },
  },
  pt: {
    mails: {
      passwordChanged: {
        subject: 'Sua senha em {appName} foi alterada',
        title: 'Sua senha foi alterada',
        body: 'A senha da sua conta em {appName} foi alterada.',
      },
    },
  },
  ja: {
    mails: {
      passwordChanged: {
        subject: '{appName} のパスワードが変更されました',
        title: 'パスワードが変更されました',
        body: '{appName} のアカウントのパスワードが変更されました。',
      },
    },
  },
};
