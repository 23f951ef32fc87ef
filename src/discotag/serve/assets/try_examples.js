// Invented texts to try the model with.

export const EXAMPLES = [
  { name: "Shared words", text: "I had pain in arms and shoulders." },
  {
    name: "A gap",
    text: "The pain I was experiencing around the hipjoints was incredible.",
  },
  {
    name: "Negation",
    text: "No chest pain, no rash. But I could not sleep, and my hands were shaking.",
  },
  {
    name: "Serious event",
    text:
      "He collapsed, stopped breathing and had a seizure about an hour after the second injection.",
  },
  {
    name: "Longer report",
    text:
      "Started with 50 mg in March. I was tired all day and had a dry mouth. My appetite went and " +
      "I lost four kilos.\n\nIn May my doctor halved the dose. I sleep better now, but my muscles " +
      "and joints are still stiff, and I get tingling in my fingers and toes.",
  },
  {
    name: "Emoji",
    text:
      "Day 3 😩 head is pounding, arms and legs feel heavy 😴 and I can't sleep at all 😭",
  },
  {
    name: "Right to left",
    text:
      "كتبت المريضة: swollen hands and feet after the second dose. توقفت عن تناول الدواء.",
  },
];
