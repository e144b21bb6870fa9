// Package discord is Glyphoxa as a Discord application: slash commands, buttons
// and voice channels for [bot.Table]s, one a server.
//
// discordgo does the main gateway, REST and interactions; the voice connection is
// package voice, because Discord closes calls that are not end-to-end encrypted
// and discordgo cannot encrypt them. The gateway's events are handled in order by
// one goroutine; whatever takes longer runs beside it.
//
// # Promises
//
//   - Nobody is heard who has not agreed: until then their sound is dropped
//     before anything looks at it. [Consent] says what is kept.
//   - Who may steer is checked on every interaction, in the right server. Without
//     configuration only administrators may.
//   - Every command is acknowledged at once and answers privately unless it is
//     meant for the table. Nothing that a model or a player said can mention
//     anybody.
//   - A lost connection to the main gateway is resumed, and calls do not notice. At
//     most 20 logins an hour and 500 a day, restarts included: Discord resets a
//     token that tries 1,000.
//
// Glyphoxa needs the intents Guilds and GuildVoiceStates, none of the privileged
// ones, and the permissions to see, connect and speak in the channel.
package discord
