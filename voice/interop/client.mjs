// Clients of discord.js that log in to a Discord: people who join its voice
// channel by the main gateway, and a bot with commands. Each tells what it sees
// as lines of JSON (say), and does what it is asked to (does).
import {
  ActionRowBuilder,
  ButtonBuilder,
  ButtonStyle,
  Client,
  Events,
  GatewayIntentBits,
  MessageFlags,
  PermissionFlagsBits,
} from 'discord.js';

const clients = new Map();

// login logs somebody in, with discord.js's own gateway and REST.
async function login({ user, token, api }, say) {
  const client = new Client({
    intents: [GatewayIntentBits.Guilds, GatewayIntentBits.GuildVoiceStates],
    rest: { api, retries: 0 },
  });
  clients.set(user, client);
  if (process.env.VOICE_LOG) client.on(Events.Debug, (m) => process.stderr.write(`${user}: ${m}\n`));
  client.on(Events.Error, (e) => say({ event: 'error', user, text: String(e?.stack ?? e) }));
  client.on(Events.Warn, (m) => say({ event: 'error', user, text: m }));
  client.on(Events.ShardResume, (_, replayed) => say({ event: 'resumed', user, text: String(replayed) }));
  client.on(Events.VoiceStateUpdate, (_, now) =>
    say({ event: 'state', user, from: now.id, text: `${now.channel?.name ?? ''} ${now.member?.displayName ?? ''}` }),
  );
  client.on(Events.InteractionCreate, (i) => answer(i, say, user).catch((e) => say({ event: 'error', user, text: String(e?.stack ?? e) })));
  client.on(Events.ClientReady, () => {
    const guild = client.guilds.cache.first();
    const voice = guild.channels.cache.find((c) => c.isVoiceBased());
    const seen = {
      name: client.user.username,
      guild: guild.name,
      available: guild.available,
      channels: guild.channels.cache.map((c) => c.name).sort(),
      members: guild.memberCount,
      owner: guild.ownerId,
      joinable: voice.joinable,
      speakable: voice.speakable,
      admin: guild.members.me.permissions.has(PermissionFlagsBits.Administrator),
      inVoice: [...voice.members.keys()],
    };
    say({ event: 'logged in', user, text: JSON.stringify(seen) });
  });
  await client.login(token);
}

// register gives the bot three commands, by REST.
async function register({ user, guild }, say) {
  const options = [{ type: 3, name: 'text', description: 'What to say', required: true, autocomplete: true }];
  const made = await clients.get(user).application.commands.set(
    [
      { name: 'echo', description: 'Says it again', options },
      { name: 'slow', description: 'Takes a while', options: [{ type: 1, name: 'talk', description: 'Slow talk', options }] },
      { name: 'ask', description: 'Asks with a button' },
    ],
    guild,
  );
  say({ event: 'registered', user, text: made.map((c) => c.name).sort().join(' ') });
}

// answer does with an interaction what a bot on discord.js would.
async function answer(i, say, user) {
  if (i.isAutocomplete()) {
    const typed = i.options.getFocused();
    return i.respond([{ name: `${typed} and more`, value: `${typed}!` }]);
  }
  if (i.isButton()) {
    return i.reply({ content: `pressed ${i.customId} in ${i.channel?.name}`, flags: MessageFlags.Ephemeral, allowedMentions: { parse: [] } });
  }
  if (!i.isChatInputCommand()) throw new Error(`an interaction of type ${i.type}`);
  const who = `${i.member.displayName} in ${i.guild.name}, #${i.channel.name}`;
  switch (i.commandName) {
    case 'echo':
      return i.reply({ content: `${who}: ${i.options.getString('text')}`, allowedMentions: { parse: [] } });
    case 'slow': {
      await i.deferReply({ flags: MessageFlags.Ephemeral });
      const message = await i.editReply({ content: `${i.options.getSubcommand()}: ${i.options.getString('text')}`, allowedMentions: { parse: [] } });
      return say({ event: 'edited', user, text: message.content });
    }
    case 'ask': {
      const row = new ActionRowBuilder().addComponents(
        new ButtonBuilder().setCustomId('yes').setLabel('Yes').setStyle(ButtonStyle.Success),
      );
      return i.reply({ content: 'Well?', components: [row], allowedMentions: { parse: [] } });
    }
  }
}

// adapter lets the voice package join through a client's gateway.
export function adapter(user, guild) {
  return clients.get(user).guilds.cache.get(guild).voiceAdapterCreator;
}

export const does = {
  login,
  register,
  logout: async ({ user }, say) => {
    await clients.get(user).destroy();
    clients.delete(user);
    say({ event: 'logged out', user });
  },
};
