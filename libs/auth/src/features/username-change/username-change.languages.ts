import type { texts } from '../../kit';

export const usernameChangeLanguages: texts.InEachLanguage<texts.WithMails<'usernameChanged'>> = {
  en: {
    mails: {
      usernameChanged: {
        subject: 'Your {appName} user name was changed',
        title: 'Your user name was changed',
        body: 'The user name of your account at {appName} was changed.',
      },
    },
  },
  de: {
    mails: {
      usernameChanged: {
        subject: 'Ihr Benutzername bei {appName} wurde geändert',
        title: 'Ihr Benutzername wurde geändert',
        body: 'Der Benutzername Ihres Kontos bei {appName} wurde geändert.',
      },
    },
  },
  fr: {
    mails: {
      usernameChanged: {
        subject: 'Votre nom d’utilisateur {appName} a été modifié',
        title: 'Votre nom d’utilisateur a été modifié',
        body: 'Le nom d’utilisateur de votre compte {appName} a été modifié.',
      },
    },
  },
  es: {
    mails: {
      usernameChanged: {
        subject: 'Se ha cambiado su nombre de usuario de {appName}',
        title: 'Se ha cambiado su nombre de usuario',
        body: 'Se ha cambiado el nombre de usuario de su cuenta de {appName}.',
      },
    },
  },
  pt: {
    mails: {
      usernameChanged: {
        subject: 'Seu nome de usuário em {appName} foi alterado',
        title: 'Seu nome de usuário foi alterado',
        body: 'O nome de usuário da sua conta em {appName} foi alterado.',
      },
    },
  },
  ja: {
    mails: {
      usernameChanged: {
        subject: '{appName} のユーザー名が変更されました',
        title: 'ユーザー名が変更されました',
        body: '{appName} のアカウントのユーザー名が変更されました。',
      },
    },
  },
};
